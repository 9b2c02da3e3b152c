#include "timing/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "tilejit/error.hpp"
#include "timing/statistics.hpp"

namespace tilejit::timing {
namespace {

constexpr int kMostSamples = 1'000'000;
constexpr int kMostAtOnce = 500;  // limits the events that are kept at once

[[noreturn]] void refuse(const std::string& option, const std::string& range) {
  throw Error(ErrorCode::invalid_argument, "benchmark option " + option + " must be " + range,
              option);
}

/// The total time of the samples in milliseconds.
double elapsed(const std::vector<double>& milliseconds, int launches) {
  return std::accumulate(milliseconds.begin(), milliseconds.end(), 0.0) * launches;
}

/// The number of samples to take next: as many as there are already, within the limits of the
/// options.
int next_count(const std::vector<double>& milliseconds, int launches,
               const BenchmarkOptions& options) {
  const auto taken = static_cast<double>(milliseconds.size());
  const double spent = elapsed(milliseconds, launches);
  const double each = spent / taken;
  const double affordable = each > 0 ? std::ceil((options.max_ms - spent) / each) : taken;
  return static_cast<int>(std::max(1.0, std::min({taken, affordable, options.max_samples - taken,
                                                  static_cast<double>(kMostAtOnce)})));
}

}  // namespace

void check(const BenchmarkOptions& options) {
  if (options.warmup < 0 || options.warmup > kMostSamples) refuse("warmup", "0 to 1000000");
  if (!(options.relative_error > 0 && options.relative_error < 1)) {
    refuse("relative_error", "above 0 and below 1");
  }
  if (options.max_samples < kFewestSamples || options.max_samples > kMostSamples) {
    refuse("max_samples", "6 to 1000000");
  }
  if (options.min_samples < kFewestSamples || options.min_samples > options.max_samples) {
    refuse("min_samples", "6 to max_samples");
  }
  if (!(options.min_ms >= 0 && std::isfinite(options.min_ms))) refuse("min_ms", "0 or more");
  if (!(options.max_ms >= options.min_ms && std::isfinite(options.max_ms))) {
    refuse("max_ms", "min_ms or more");
  }
}

TimeSummary sample(Sampler& sampler, const BenchmarkOptions& options) {
  check(options);
  if (options.warmup > 0) sampler.warm_up(options.warmup);
  std::vector<double> milliseconds;
  int count = kFewestSamples;
  for (;;) {
    sampler.take(count, milliseconds);
    const TimeSummary summary = summarize(milliseconds, sampler.launches(), options.relative_error);
    const double spent = elapsed(milliseconds, sampler.launches());
    const bool settled =
        !summary.noisy && summary.samples >= options.min_samples && spent >= options.min_ms;
    if (settled || spent >= options.max_ms || summary.samples >= options.max_samples) {
      return summary;
    }
    count = next_count(milliseconds, sampler.launches(), options);
  }
}

}  // namespace tilejit::timing
