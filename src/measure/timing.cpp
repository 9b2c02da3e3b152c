// Samples of launches on a device.
#include <functional>
#include <vector>

#include "core/integer.hpp"
#include "launch/internals.hpp"
#include "tilejit/benchmark.hpp"
#include "tilejit/error.hpp"
#include "timing/sampling.hpp"

namespace tilejit {
namespace {

/// Enqueues launch number `i` on the stream.
using Launch = std::function<void(CUstream, std::size_t i)>;

struct EventPair {
  driver::UniqueEvent begin, end;
};

/// Uses its own stream, with events around each sample. Enqueues all samples of a request before it
/// waits for the first, so that the device does not wait for the host.
class DeviceSampler : public timing::Sampler {
 public:
  explicit DeviceSampler(const driver::Context& context)
      : context_(context),
        scope_(context),
        stream_(driver::make_stream(context, CU_STREAM_NON_BLOCKING)) {}

  void warm_up(int count) final {
    for (int i = 0; i < count; ++i) submit(stream_.get());
    driver::synchronize(context_, stream_.get());
  }

  void take(int count, std::vector<double>& milliseconds) final {
    const auto samples = static_cast<std::size_t>(count);
    while (events_.size() < samples) events_.push_back(make_pair());
    for (std::size_t i = 0; i < samples; ++i) {
      record(events_[i].begin);
      submit(stream_.get());
      record(events_[i].end);
    }
    driver::synchronize(context_, stream_.get());
    for (std::size_t i = 0; i < samples; ++i) {
      float elapsed = 0;
      driver::check(
          driver(),
          driver().cuEventElapsedTime_(&elapsed, events_[i].begin.get(), events_[i].end.get()),
          "cuEventElapsedTime");
      milliseconds.push_back(static_cast<double>(elapsed) / launches());
    }
  }

 protected:
  /// Enqueues the launches of one sample.
  virtual void submit(CUstream stream) = 0;
  [[nodiscard]] const driver::Context& context() const noexcept { return context_; }
  [[nodiscard]] const driver::Table& driver() const noexcept { return context_.driver(); }
  [[nodiscard]] CUstream stream() const noexcept { return stream_.get(); }

 private:
  [[nodiscard]] EventPair make_pair() const {
    driver::UniqueEvent begin = driver::make_event(context_, CU_EVENT_DEFAULT);
    return {std::move(begin), driver::make_event(context_, CU_EVENT_DEFAULT)};
  }
  void record(const driver::UniqueEvent& event) const {
    driver::check(driver(), driver().cuEventRecord_(event.get(), stream_.get()), "cuEventRecord");
  }

  const driver::Context& context_;
  const driver::ContextScope scope_;
  const driver::UniqueStream stream_;
  std::vector<EventPair> events_;
};

/// Takes samples of one launch each.
class StreamSampler final : public DeviceSampler {
 public:
  StreamSampler(const driver::Context& context, const Launch& launch)
      : DeviceSampler(context), launch_(launch) {}
  [[nodiscard]] int launches() const noexcept override { return 1; }

 private:
  void submit(CUstream stream) override { launch_(stream, next_++); }

  const Launch& launch_;
  std::size_t next_ = 0;
};

/// Takes samples of one graph each, whose launches follow each other.
class GraphSampler final : public DeviceSampler {
 public:
  GraphSampler(const driver::Context& context, const Launch& launch, int launches)
      : DeviceSampler(context), launches_(launches) {
    // One launch before the capture: work that a launch does only once must not be captured.
    launch(stream(), 0);
    driver::synchronize(context, stream());
    driver::check(driver(),
                  driver().cuStreamBeginCapture_(stream(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
                  "cuStreamBeginCapture");
    const driver::UniqueGraph graph = capture(launch);
    CUgraphExec executable = nullptr;
    driver::check(driver(), driver().cuGraphInstantiate_(&executable, graph.get(), 0),
                  "cuGraphInstantiate");
    executable_ = driver::UniqueGraphExec(executable, {&context});
  }
  [[nodiscard]] int launches() const noexcept override { return launches_; }

 private:
  /// Ends the capture in any case.
  driver::UniqueGraph capture(const Launch& launch) {
    CUgraph graph = nullptr;
    try {
      for (int i = 0; i < launches_; ++i) launch(stream(), static_cast<std::size_t>(i));
    } catch (...) {
      driver().cuStreamEndCapture_(stream(), &graph);
      if (graph != nullptr) driver().cuGraphDestroy_(graph);
      throw;
    }
    driver::check(driver(), driver().cuStreamEndCapture_(stream(), &graph), "cuStreamEndCapture");
    return driver::UniqueGraph(graph, {&context()});
  }

  void submit(CUstream stream) override {
    driver::check(driver(), driver().cuGraphLaunch_(executable_.get(), stream), "cuGraphLaunch");
  }

  int launches_;
  driver::UniqueGraphExec executable_;
};

// Nodes per graph, so that the launch of the graph itself counts little.
constexpr int kFewestNodes = 20;

TimeSummary time_on_device(const driver::Context& context, std::size_t sets,
                           const BenchmarkOptions& options, const Launch& launch) {
  timing::check(options);
  if (options.timed_in == TimedIn::stream) {
    StreamSampler sampler(context, launch);
    return timing::sample(sampler, options);
  }
  // Whole rounds through the argument sets, since the next graph begins with the first set.
  const auto turn = static_cast<std::int64_t>(sets);
  const auto nodes = static_cast<int>(turn * core::ceil_div(kFewestNodes, turn));
  GraphSampler sampler(context, launch, nodes);
  return timing::sample(sampler, options);
}

}  // namespace

TimeSummary time_launches(const Runtime& runtime, const Kernel& kernel,
                          std::span<const std::vector<Argument>> arguments,
                          const SymbolValues& symbols, const BenchmarkOptions& options) {
  if (arguments.empty()) {
    throw Error(ErrorCode::invalid_argument, "timing needs at least one set of arguments");
  }
  return time_on_device(*launch::Internals::context(runtime), arguments.size(), options,
                        [&](CUstream stream, std::size_t i) {
                          kernel.launch(stream, arguments[i % arguments.size()], symbols);
                        });
}

TimeSummary time_copy(const Runtime& runtime, std::size_t bytes, const BenchmarkOptions& options) {
  const WorkspaceTensor tensors[] = {{bytes}, {bytes}};
  const Workspaces workspaces(runtime, tensors, {}, options.l2);
  const auto sets = workspaces.arguments();
  const driver::Table& driver = launch::Internals::context(runtime)->driver();
  return time_on_device(
      *launch::Internals::context(runtime), sets.size(), options,
      [&](CUstream stream, std::size_t i) {
        const std::vector<Argument>& set = sets[i % sets.size()];
        driver::check(driver,
                      driver.cuMemcpyDtoDAsync_(set[1].address, set[0].address, bytes, stream),
                      "cuMemcpyDtoDAsync");
      });
}

}  // namespace tilejit
