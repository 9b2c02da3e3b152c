#include "timing/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace tilejit {

double TimeSummary::relative_error() const noexcept {
  return median_ms > 0 ? (high_ms - low_ms) / 2 / median_ms : 0;
}

namespace timing {

double percentile(std::span<const double> sorted, double p) noexcept {
  const double place = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  if (below + 1 >= sorted.size()) return sorted.back();
  return std::lerp(sorted[below], sorted[below + 1], place - static_cast<double>(below));
}

std::optional<Ranks> median_ranks(std::size_t samples, double confidence) {
  const auto n = static_cast<double>(samples);
  // Probability that `k` or fewer samples are below the median. In logarithms, since 2^-n may
  // underflow.
  double log_probability = -n * std::log(2.0), tail = 0;
  std::optional<Ranks> ranks;
  for (std::size_t k = 0; 2 * k + 1 < samples; ++k) {
    tail += std::exp(log_probability);
    if (2 * tail > 1 - confidence) break;
    ranks = {k, samples - 1 - k};
    const auto below = static_cast<double>(k);
    log_probability += std::log((n - below) / (below + 1));
  }
  return ranks;
}

TimeSummary summarize(std::vector<double> milliseconds, int launches, double relative_error) {
  std::ranges::sort(milliseconds);
  const auto at = [&](double p) { return percentile(milliseconds, p); };
  const auto ranks = median_ranks(milliseconds.size());
  const Ranks interval = ranks.value_or(Ranks{0, milliseconds.size() - 1});
  TimeSummary summary{.samples = static_cast<int>(milliseconds.size()),
                      .launches = static_cast<int>(milliseconds.size()) * launches,
                      .min_ms = milliseconds.front(),
                      .p10_ms = at(0.1),
                      .p25_ms = at(0.25),
                      .median_ms = at(0.5),
                      .p75_ms = at(0.75),
                      .p90_ms = at(0.9),
                      .p99_ms = at(0.99),
                      .max_ms = milliseconds.back(),
                      .low_ms = milliseconds[interval.low],
                      .high_ms = milliseconds[interval.high]};
  summary.noisy = !ranks || summary.relative_error() > relative_error;
  return summary;
}

}  // namespace timing
}  // namespace tilejit
