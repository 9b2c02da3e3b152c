#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "device/occupancy.hpp"
#include "tilejit/matrix_types.hpp"

namespace tilejit::operation {

/// What a plan tells about a launch before it runs. Figures that depend on sizes are empty unless
/// every symbol has a value.
struct Figures {
  const device::Device* device = nullptr;        ///< its published peaks stand for the target
  std::int64_t bytes_in_flight = 0;              ///< bytes that one thread loads at once
  std::optional<std::int64_t> blocks = {};       ///< per launch
  std::optional<std::int64_t> bytes_moved = {};  ///< each element once; twice if in place
  std::optional<std::int64_t> operations = {};   ///< DeclaredWork::operations
  std::optional<MatrixTypes> matrices = {};      ///< DeclaredWork::matrices
};

/// What the compiler reports about a kernel.
struct Compiled {
  int registers = 0;     ///< per thread
  int spill_bytes = 0;   ///< per thread, stored and loaded
  int static_bytes = 0;  ///< shared memory that the kernel declares
};

/// One topic of an explanation, in sentences.
struct Topic {
  std::string name;
  std::vector<std::string> sentences;
};

/// An explanation of a kernel, and the figures behind it.
struct Explanation {
  device::Occupancy occupancy = {};
  std::optional<std::int64_t> operations = {};
  double bytes_needed = 0;        ///< bytes in flight per multiprocessor by Little's law
  std::int64_t bytes_issued = 0;  ///< bytes in flight per multiprocessor by plan and occupancy
  std::vector<Topic> topics = {};
  std::vector<std::string> advice = {};  ///< possible changes; empty: nothing stands out
};

}  // namespace tilejit::operation
