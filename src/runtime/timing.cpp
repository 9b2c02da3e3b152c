#include <algorithm>
#include <functional>
#include <vector>

#include "runtime/internals.hpp"
#include "tilejit/error.hpp"
#include "tilejit/runtime.hpp"

namespace tilejit {
namespace {

struct EventPair {
  driver::UniqueEvent begin, end;
};

/// A rank of the sorted values: 0.5 is the median (of an even number, the mean of the middle two).
double median(const std::vector<double>& sorted) {
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 != 0 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

Timing summarize(std::vector<double> milliseconds) {
  std::sort(milliseconds.begin(), milliseconds.end());
  return {.median_ms = median(milliseconds),
          .min_ms = milliseconds.front(),
          .p90_ms = milliseconds[(milliseconds.size() * 9 + 9) / 10 - 1],
          .iterations = static_cast<int>(milliseconds.size())};
}

/// Runs `work(stream, i)` warmup + iterations times and times each of the latter by two events. All
/// are queued before the first is waited for, so that the device does not wait for the host.
Timing time_work(const driver::Context& context, int warmup, int iterations,
                 const std::function<void(CUstream, int)>& work) {
  if (iterations < 1 || warmup < 0) {
    throw Error(ErrorCode::invalid_argument,
                "timing takes at least 1 iteration and no negative warm-up, not " +
                    std::to_string(iterations) + " and " + std::to_string(warmup));
  }
  const driver::Table& driver = context.driver();
  const driver::ContextScope scope(context);
  const driver::UniqueStream stream = driver::make_stream(driver, CU_STREAM_NON_BLOCKING);
  std::vector<EventPair> events;
  for (int i = 0; i < iterations; ++i) {
    driver::UniqueEvent begin = driver::make_event(driver, CU_EVENT_DEFAULT);
    events.push_back({std::move(begin), driver::make_event(driver, CU_EVENT_DEFAULT)});
  }
  for (int i = 0; i < warmup; ++i) work(stream.get(), i);
  for (int i = 0; i < iterations; ++i) {
    const EventPair& pair = events[static_cast<std::size_t>(i)];
    driver::check(driver, driver.cuEventRecord_(pair.begin.get(), stream.get()), "cuEventRecord");
    work(stream.get(), warmup + i);
    driver::check(driver, driver.cuEventRecord_(pair.end.get(), stream.get()), "cuEventRecord");
  }
  driver::check(driver, driver.cuStreamSynchronize_(stream.get()), "cuStreamSynchronize");
  std::vector<double> milliseconds;
  for (const EventPair& pair : events) {
    float elapsed = 0;
    driver::check(driver, driver.cuEventElapsedTime_(&elapsed, pair.begin.get(), pair.end.get()),
                  "cuEventElapsedTime");
    milliseconds.push_back(elapsed);
  }
  return summarize(std::move(milliseconds));
}

}  // namespace

Timing time_launches(const Runtime& runtime, const Kernel& kernel,
                     std::span<const std::vector<Argument>> rotate, const SymbolValues& symbols,
                     int warmup, int iterations) {
  if (rotate.empty()) {
    throw Error(ErrorCode::invalid_argument, "timing needs at least one set of arguments");
  }
  return time_work(*runtime::Internals::context(runtime), warmup, iterations,
                   [&](CUstream stream, int i) {
                     const auto& args = rotate[static_cast<std::size_t>(i) % rotate.size()];
                     kernel.launch(stream, args, symbols);
                   });
}

Timing time_copy(const Runtime& runtime, std::size_t bytes, int warmup, int iterations) {
  const Buffer source(runtime, bytes);
  const Buffer destination(runtime, bytes);
  const driver::Context& context = *runtime::Internals::context(runtime);
  return time_work(context, warmup, iterations, [&](CUstream stream, int) {
    driver::check(context.driver(),
                  context.driver().cuMemcpyDtoDAsync_(
                      reinterpret_cast<CUdeviceptr>(destination.data()),
                      reinterpret_cast<CUdeviceptr>(source.data()), bytes, stream),
                  "cuMemcpyDtoDAsync");
  });
}

}  // namespace tilejit
