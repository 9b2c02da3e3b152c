#pragma once

#include <vector>

#include "tilejit/benchmark_options.hpp"

namespace tilejit::timing {

/// What samples are taken of: launches on a device, or whatever else takes time.
class Sampler {
 public:
  virtual ~Sampler() = default;
  /// Does as `count` samples do, without timing.
  virtual void warm_up(int count) = 0;
  /// Takes `count` samples and adds the milliseconds of a launch of each.
  virtual void take(int count, std::vector<double>& milliseconds) = 0;
  /// Of each sample.
  [[nodiscard]] virtual int launches() const noexcept = 0;
};

/// Throws Error{invalid_argument} that names what is out of its range.
void check(const BenchmarkOptions& options);

/// Takes samples as `options` say: first the fewest that have a confidence interval, then as many
/// as there are, again and again. Throws as `check`, and what `sampler` throws.
[[nodiscard]] TimeSummary sample(Sampler& sampler, const BenchmarkOptions& options);

}  // namespace tilejit::timing
