#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

#include "driver/driver.hpp"

namespace tilejit::bench {

using Clock = std::chrono::steady_clock;

inline double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Host time of one call, in microseconds: the median of batches.
inline double call_microseconds(const std::function<void()>& call) {
  constexpr int kBatch = 2000, kBatches = 101;
  std::vector<double> times;
  for (int i = 0; i < kBatches; ++i) {
    const auto start = Clock::now();
    for (int n = 0; n < kBatch; ++n) call();
    times.push_back(microseconds_since(start) / kBatch);
  }
  return median(std::move(times));
}

/// Host time of one call of each function, in microseconds. The functions take turns, so that
/// clocks and noise affect all alike.
inline std::vector<double> turn_microseconds(const std::vector<std::function<void()>>& calls) {
  constexpr int kBatch = 200, kBatches = 201;
  std::vector<std::vector<double>> times(calls.size());
  for (int i = 0; i < kBatches; ++i) {
    for (std::size_t c = 0; c < calls.size(); ++c) {
      const auto start = Clock::now();
      for (int n = 0; n < kBatch; ++n) calls[c]();
      times[c].push_back(microseconds_since(start) / kBatch);
    }
  }
  std::vector<double> medians;
  for (std::vector<double>& each : times) medians.push_back(median(std::move(each)));
  return medians;
}

/// Host time of one call of each function, in microseconds, in batches that stay below the queue's
/// depth. The functions take turns, so that clocks and noise affect all alike. The stream is idle
/// before and after each batch.
inline std::vector<double> batch_microseconds(const driver::Table& driver, CUstream stream,
                                              const std::vector<std::function<void()>>& calls) {
  constexpr int kBatch = 200, kBatches = 101;
  const auto synchronize = [&] {
    driver::check(driver, driver.cuStreamSynchronize_(stream), "cuStreamSynchronize");
  };
  std::vector<std::vector<double>> times(calls.size());
  for (int i = 0; i < kBatches; ++i) {
    for (std::size_t c = 0; c < calls.size(); ++c) {
      synchronize();
      const auto start = Clock::now();
      for (int n = 0; n < kBatch; ++n) calls[c]();
      times[c].push_back(microseconds_since(start) / kBatch);
      synchronize();
    }
  }
  std::vector<double> medians;
  for (std::vector<double>& each : times) medians.push_back(median(std::move(each)));
  return medians;
}

/// Device time, in microseconds, of the work that each call puts on the stream: the median by
/// events. The calls take turns.
inline std::vector<double> device_microseconds(const driver::Table& driver, CUstream stream,
                                               const std::vector<std::function<void()>>& calls) {
  constexpr int kTurns = 51, kWarmUp = 3;
  const auto check = [&](CUresult result) { driver::check(driver, result, "launch_bench"); };
  CUevent begin{}, end{};
  check(driver.cuEventCreate_(&begin, 0));
  check(driver.cuEventCreate_(&end, 0));
  std::vector<std::vector<double>> times(calls.size());
  for (int i = 0; i < kTurns + kWarmUp; ++i) {
    for (std::size_t c = 0; c < calls.size(); ++c) {
      check(driver.cuEventRecord_(begin, stream));
      calls[c]();
      check(driver.cuEventRecord_(end, stream));
      check(driver.cuStreamSynchronize_(stream));
      float milliseconds = 0;
      check(driver.cuEventElapsedTime_(&milliseconds, begin, end));
      if (i >= kWarmUp) times[c].push_back(1e3 * milliseconds);
    }
  }
  check(driver.cuEventDestroy_(begin));
  check(driver.cuEventDestroy_(end));
  std::vector<double> medians;
  for (std::vector<double>& each : times) medians.push_back(median(std::move(each)));
  return medians;
}

}  // namespace tilejit::bench
