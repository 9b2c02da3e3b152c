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
/// The tensors that were written, in order.
[[nodiscard]] std::vector<HostTensor> download(const Problem& problem,
                                               const DeviceArguments& device);

/// Compares what `download` gave with the CPU reference.
[[nodiscard]] Verification check(const Problem& problem, const std::vector<HostTensor>& results);

/// The problem's tensors on the device, so often that inputs do not stay in the L2 cache when they
/// are used in turn; once for a warm one.
[[nodiscard]] Workspaces make_workspaces(const Runtime& runtime, const Problem& problem,
                                         L2State l2 = L2State::cold);

/// Times of a kernel and of a device-to-device copy that moves as many bytes.
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
