#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tilejit/benchmark_options.hpp"

namespace tilejit::timing {

/// The fewest samples that have a confidence interval of 95 %.
inline constexpr int kFewestSamples = 6;

/// The p-quantile of sorted samples, 0 <= p <= 1; at least one sample. Interpolates between samples
/// by type 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages", The American
/// Statistician 50 (1996), NumPy's default. 0.5 gives the median.
[[nodiscard]] double percentile(std::span<const double> sorted, double p) noexcept;

/// Positions in the sorted samples, counted from 0.
struct Ranks {
  std::size_t low = 0, high = 0;
  bool operator==(const Ranks&) const = default;
};
/// The ranks of two samples between which the median of their distribution lies with a probability
/// of at least `confidence`. This holds for every distribution, since the number of samples below
/// the median is binomial (Conover, "Practical Nonparametric Statistics", 3rd edition, 1999,
/// section 3.2). Returns the narrowest symmetric ranks; nothing if there are too few samples.
[[nodiscard]] std::optional<Ranks> median_ranks(std::size_t samples, double confidence = 0.95);

/// `milliseconds` holds the time per launch of each sample (at least one); each sample had
/// `launches` of them. With too few samples for a confidence interval, the interval spans least to
/// greatest and the summary is `noisy`.
[[nodiscard]] TimeSummary summarize(std::vector<double> milliseconds, int launches,
                                    double relative_error);

}  // namespace tilejit::timing
