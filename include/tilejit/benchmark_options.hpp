#pragma once

#include <cstdint>

namespace tilejit {

/// How launches make a sample.
enum class TimedIn : std::uint8_t {
  stream,  ///< one launch between two events; its start on the device counts
  graph,   ///< many launches in a graph, between two events; each has its share
};

/// What the L2 cache holds of a launch's tensors when it starts.
enum class L2State : std::uint8_t {
  cold,  ///< nothing: launches take their tensors from workspaces in turn
  warm,  ///< what the launch before left there: all take them from one workspace
};

/// How launches are timed (docs/benchmarking.md). Times are of the device, in milliseconds.
struct BenchmarkOptions {
  TimedIn timed_in = TimedIn::stream;
  L2State l2 = L2State::cold;
  int warmup = 5;  ///< launches (of the graph, if there is one) before the first sample, 0..1e6
  /// Sampling ends when half the width of the median's 95 % confidence interval is at most this
  /// part of the median: above 0, below 1.
  double relative_error = 0.005;
  int min_samples = 50;    ///< taken at least, unless max_ms is over: 6..max_samples
  int max_samples = 5000;  ///< taken at most: up to 1e6
  double min_ms = 10;      ///< sampled at least: 0 or more
  double max_ms = 1000;    ///< no sample is begun after this; min_ms or more
};

/// A summary of samples, in milliseconds per launch.
struct TimeSummary {
  int samples = 0;
  int launches = 0;  ///< of all samples
  double min_ms = 0, p10_ms = 0, p25_ms = 0, median_ms = 0, p75_ms = 0, p90_ms = 0, p99_ms = 0,
         max_ms = 0;
  double low_ms = 0, high_ms = 0;  ///< 95 % confidence interval of the median
  bool noisy = false;  ///< the interval is wider than BenchmarkOptions::relative_error allows

  /// Half the interval's width, as a part of the median; 0 for a median of 0.
  [[nodiscard]] double relative_error() const noexcept;
};

}  // namespace tilejit
