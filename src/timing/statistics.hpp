#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tilejit/benchmark_options.hpp"

namespace tilejit::timing {

/// Fewer samples have no confidence interval of 95 %.
inline constexpr int kFewestSamples = 6;

/// The p-th part of sorted samples, 0 <= p <= 1; at least one sample. Between two samples it is
/// interpolated: type 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages", The
/// American Statistician 50 (1996), as NumPy has it by default. 0.5: the median.
[[nodiscard]] double percentile(std::span<const double> sorted, double p) noexcept;

/// Places in the sorted samples, counted from 0.
struct Ranks {
  std::size_t low = 0, high = 0;
  bool operator==(const Ranks&) const = default;
};
/// Between which samples the median of what they were drawn from lies with a probability of at
/// least `confidence`, whatever its distribution: the samples below it are binomially distributed
/// (Conover, "Practical Nonparametric Statistics", 3rd edition, 1999, section 3.2). The narrowest
/// symmetric ranks; nothing where there are too few samples.
[[nodiscard]] std::optional<Ranks> median_ranks(std::size_t samples, double confidence = 0.95);

/// `milliseconds`: of a launch, one a sample, at least one; each sample had `launches`. Without
/// enough samples for an interval, that is from the least to the greatest and `noisy`.
[[nodiscard]] TimeSummary summarize(std::vector<double> milliseconds, int launches,
                                    double relative_error);

}  // namespace tilejit::timing
