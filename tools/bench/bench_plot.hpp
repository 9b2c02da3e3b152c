#pragma once

#include "bench/bench_run.hpp"
#include "bench/line_plot.hpp"

namespace tilejit::cli {

/// GB/s over the first axis of several values, of numbers if there is one; a line for each kernel
/// and the other axes' values, and one for the copy. Throws UsageError where no axis has several.
[[nodiscard]] LinePlot bench_plot(const BenchRun& run);

}  // namespace tilejit::cli
