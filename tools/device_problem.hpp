#pragma once

#include <vector>

#include "problem.hpp"
#include "tilejit/runtime.hpp"

namespace tilejit::cli {

/// Device copies of all tensors of a problem, and the argument list that names them.
struct DeviceArguments {
  std::vector<Buffer> buffers;
  std::vector<Argument> arguments;
};
[[nodiscard]] DeviceArguments upload(const Runtime& runtime, const Problem& problem);
/// The tensors that were written, in order.
[[nodiscard]] std::vector<HostTensor> download(const Problem& problem,
                                               const DeviceArguments& device);

/// Compares what `download` gave with the CPU reference.
[[nodiscard]] Verification check(const Problem& problem, const std::vector<HostTensor>& results);

/// Copies enough that inputs do not stay in L2 when they are used in turn.
struct ArgumentSets {
  ArgumentSets(const Runtime& runtime, const Problem& problem);
  std::vector<DeviceArguments> sets;
  std::vector<std::vector<Argument>> rotate;  ///< the argument lists
};

/// Median times of a kernel and of a device-to-device copy that moves as many bytes.
struct Benchmark {
  Timing kernel;
  Timing copy;
  int argument_sets = 1;  ///< used in turn, so that inputs do not stay in L2

  [[nodiscard]] double gigabytes_per_second(std::int64_t bytes_moved) const noexcept;
  [[nodiscard]] double percent_of_copy() const noexcept;
};

[[nodiscard]] Benchmark measure(const Runtime& runtime, const Kernel& kernel,
                                const Problem& problem);

}  // namespace tilejit::cli
