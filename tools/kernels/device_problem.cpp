#include "kernels/device_problem.hpp"

#include <algorithm>

namespace tilejit::cli {

double Benchmark::gigabytes_per_second(std::int64_t bytes_moved) const noexcept {
  return kernel.median_ms > 0 ? static_cast<double>(bytes_moved) / kernel.median_ms / 1e6 : 0;
}

double Benchmark::percent_of_copy() const noexcept {
  return kernel.median_ms > 0 ? 100 * copy.median_ms / kernel.median_ms : 0;
}

DeviceArguments upload(const Runtime& runtime, const Problem& problem) {
  DeviceArguments device;
  for (const HostTensor& tensor : problem.tensors) {
    Buffer& buffer = device.buffers.emplace_back(runtime, tensor.size_bytes());
    if (tensor.size_bytes() > 0) buffer.copy_from_host(tensor.data(), tensor.size_bytes());
    device.arguments.emplace_back(buffer);
  }
  device.arguments.insert(device.arguments.end(), problem.scalars.begin(), problem.scalars.end());
  return device;
}

std::vector<HostTensor> download(const Problem& problem, const DeviceArguments& device) {
  std::vector<HostTensor> results;
  for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
    if (problem.access[i] == Access::in) continue;
    const HostTensor& result = results.emplace_back(problem.tensors[i].size_bytes());
    if (result.size_bytes() > 0) {
      device.buffers[i].copy_to_host(result.data(), result.size_bytes());
    }
  }
  return results;
}

Verification check(Runtime& runtime, const Problem& problem,
                   const std::vector<HostTensor>& results) {
  std::vector<const void*> actual;
  auto result = results.begin();
  for (std::size_t i = 0; i < problem.tensors.size(); ++i) {
    const bool written = problem.access[i] != Access::in;
    actual.push_back(written ? (result++)->data() : problem.tensors[i].data());
  }
  return verify(runtime, problem.op, problem.arguments(), actual);
}

Workspaces make_workspaces(const Runtime& runtime, const Problem& problem, L2State l2) {
  std::vector<WorkspaceTensor> tensors;
  for (const HostTensor& tensor : problem.tensors) {
    tensors.push_back({tensor.size_bytes(), tensor.data()});
  }
  return {runtime, tensors, problem.scalars, l2};
}

Benchmark measure(const Runtime& runtime, const Kernel& kernel, const Problem& problem) {
  const Workspaces workspaces = make_workspaces(runtime, problem);
  Benchmark result;
  result.argument_sets = workspaces.arguments().size();
  result.kernel = time_launches(runtime, kernel, workspaces.arguments(), problem.symbols);
  // A copy reads and writes each byte.
  const auto copied = static_cast<std::size_t>(std::max<std::int64_t>(problem.bytes_moved / 2, 1));
  result.copy = time_copy(runtime, copied);
  return result;
}

}  // namespace tilejit::cli
