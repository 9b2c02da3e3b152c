#include "measure/peak_kernel.hpp"
#include "tilejit/benchmark.hpp"

namespace tilejit {

double measure_peak(Runtime& runtime, const MatrixTypes& types, const BenchmarkOptions& options) {
  const measure::PeakKernel peak = measure::peak_kernel(types.a, types.b, runtime.device().target);
  const std::int64_t blocks = std::int64_t{runtime.device().multiprocessors} * peak.blocks;
  const Kernel kernel = runtime.compile(measure::peak_operation(peak, blocks));
  const WorkspaceTensor tensors[] = {
      {static_cast<std::size_t>(blocks * peak.threads * size_bytes(peak.sums))}};
  const Workspaces workspaces(runtime, tensors, {}, L2State::warm);
  const double ms = time_launches(runtime, kernel, workspaces.arguments(), {}, options).median_ms;
  return ms > 0 ? static_cast<double>(blocks) * peak.flop / ms / 1e9 : 0;
}

}  // namespace tilejit
