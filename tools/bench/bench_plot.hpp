#pragma once

#include "bench/bench_run.hpp"
#include "bench/line_plot.hpp"

namespace tilejit::cli {

/// GB/s over the first axis that has several values, or the first such axis of numbers if there is
/// one. Each kernel with values of the other axes is one line; the copy is another. Throws
/// UsageError if no axis has several values.
[[nodiscard]] LinePlot bench_plot(const BenchRun& run);

}  // namespace tilejit::cli
