#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "device/occupancy.hpp"

namespace tilejit::operation {

/// What a plan says of a launch before that has run. What needs sizes is empty unless every symbol
/// has a value.
struct Figures {
  const device::Device* device = nullptr;        ///< whose published peaks stand for the target
  std::int64_t bytes_in_flight = 0;              ///< loads of a thread at once
  std::optional<std::int64_t> blocks = {};       ///< of the launch
  std::optional<std::int64_t> bytes_moved = {};  ///< each element once, twice in place
  std::optional<std::int64_t> operations = {};   ///< DeclaredWork::operations
};

/// What the compiler made of a kernel.
struct Compiled {
  int registers = 0;     ///< a thread
  int spill_bytes = 0;   ///< a thread, stored and loaded
  int static_bytes = 0;  ///< shared memory that the kernel declares
};

/// One thing to say of a kernel, in sentences.
struct Topic {
  std::string name;
  std::vector<std::string> sentences;
};

/// A kernel in words, and the figures that the words are about.
struct Explanation {
  device::Occupancy occupancy = {};
  std::optional<std::int64_t> operations = {};
  double bytes_needed = 0;        ///< in flight a multiprocessor, by Little's law
  std::int64_t bytes_issued = 0;  ///< in flight a multiprocessor, by the plan and the occupancy
  std::vector<Topic> topics = {};
  std::vector<std::string> advice = {};  ///< what one could change; empty: nothing stands out
};

}  // namespace tilejit::operation
