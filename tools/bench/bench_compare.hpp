#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/bench_run.hpp"

namespace tilejit::cli {

/// One row beside the same of an earlier run.
struct Change {
  std::string kernel;
  Point point;
  double before_ms = 0, now_ms = 0;  ///< medians
  /// The confidence intervals do not overlap: more than noise, as far as they tell.
  bool significant = false;

  [[nodiscard]] double percent() const noexcept;  ///< above 0: slower
};

/// Of the rows that both runs have, in the order of `now`; one may be timed in a stream, the other
/// in a graph. Throws UsageError if the state of L2 differs, or if they share no row.
[[nodiscard]] std::vector<Change> compare(const BenchRun& now, const BenchRun& before);

/// A line a change, and what the devices are where they differ. Of a stream and a graph the speedup
/// too: the earlier time over this one, less one.
[[nodiscard]] std::string compare_text(const std::vector<Change>& changes, const BenchRun& now,
                                       const BenchRun& before);

/// Significant changes for the worse by more than `percent`.
[[nodiscard]] std::vector<Change> regressions(const std::vector<Change>& changes, double percent);

}  // namespace tilejit::cli
