#pragma once

#include <vector>

#include "kernels/problem.hpp"
#include "tilejit/benchmark.hpp"

namespace tilejit::cli {

/// Device copies of all tensors of a problem, and the argument list that names them.
struct DeviceArguments {
  std::vector<Buffer> buffers;
  std::vector<Argument> arguments;
};
[[nodiscard]] DeviceArguments upload(const Runtime& runtime, const Problem& problem);
/// The tensors that the kernel wrote, in order.
[[nodiscard]] std::vector<HostTensor> download(const Problem& problem,
                                               const DeviceArguments& device);

/// Compares the results of `download` with the reference.
[[nodiscard]] Verification check(Runtime& runtime, const Problem& problem,
                                 const std::vector<HostTensor>& results);

/// Copies of the problem's tensors on the device: for a cold L2 cache, as many as keep the inputs
/// from staying in it when they are used in turn; for a warm one, a single copy.
[[nodiscard]] Workspaces make_workspaces(const Runtime& runtime, const Problem& problem,
                                         L2State l2 = L2State::cold);

/// The times of a kernel, and of a device-to-device copy that moves as many bytes.
struct Benchmark {
  TimeSummary kernel;
  TimeSummary copy;
  std::size_t argument_sets = 1;  ///< used in turn, so that inputs do not stay in L2

  [[nodiscard]] double gigabytes_per_second(std::int64_t bytes_moved) const noexcept;
  [[nodiscard]] double percent_of_copy() const noexcept;
};

[[nodiscard]] Benchmark measure(const Runtime& runtime, const Kernel& kernel,
                                const Problem& problem);

}  // namespace tilejit::cli
