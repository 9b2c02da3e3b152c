#pragma once

#include <vector>

#include "tilejit/benchmark_options.hpp"

namespace tilejit::timing {

/// The source of samples: launches on a device, or anything else that takes time.
class Sampler {
 public:
  virtual ~Sampler() = default;
  /// Does the work of `count` samples without timing it.
  virtual void warm_up(int count) = 0;
  /// Takes `count` samples and appends the milliseconds per launch of each.
  virtual void take(int count, std::vector<double>& milliseconds) = 0;
  /// Launches per sample.
  [[nodiscard]] virtual int launches() const noexcept = 0;
};

/// Throws Error{invalid_argument} that names the option that is out of range.
void check(const BenchmarkOptions& options);

/// Takes samples as `options` say: first the smallest number that has a confidence interval, then
/// as many again, which doubles the number each time, until the options are met. Throws as `check`,
/// and what `sampler` throws.
[[nodiscard]] TimeSummary sample(Sampler& sampler, const BenchmarkOptions& options);

}  // namespace tilejit::timing
