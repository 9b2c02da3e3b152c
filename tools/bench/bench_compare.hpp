#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/bench_run.hpp"

namespace tilejit::cli {

/// One row of a run beside the same row of an earlier run.
struct Change {
  std::string kernel;
  Point point;
  double before_ms = 0, now_ms = 0;  ///< medians
  /// The confidence intervals do not overlap: as far as they tell, the change is more than noise.
  bool significant = false;

  [[nodiscard]] double percent() const noexcept;  ///< above 0: slower
};

/// The changes of all rows that both runs have, in the order of `now`. One run may be timed in a
/// stream and the other in a graph. Throws UsageError if the states of L2 differ, or if the runs
/// share no row.
[[nodiscard]] std::vector<Change> compare(const BenchRun& now, const BenchRun& before);

/// One line per change, and the devices if they differ. If one run is of a stream and the other of
/// a graph, each line also has the speedup: the earlier time divided by the new one, minus one.
[[nodiscard]] std::string compare_text(const std::vector<Change>& changes, const BenchRun& now,
                                       const BenchRun& before);

/// The significant changes that are slower by more than `percent`.
[[nodiscard]] std::vector<Change> regressions(const std::vector<Change>& changes, double percent);

}  // namespace tilejit::cli
