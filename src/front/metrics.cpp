#include "tilejit/metrics.hpp"

#include <string_view>

#include "tilejit/cache/store.hpp"
#include "tilejit/compiler.hpp"

namespace tilejit {
namespace {

/// Builds Prometheus' text, one metric at a time.
class Text {
 public:
  Text& metric(const char* name, const char* type, const char* help) {
    name_ = std::string("tilejit_") + name;
    text_ += "# HELP " + name_ + ' ' + help + "\n# TYPE " + name_ + ' ' + type + '\n';
    return *this;
  }
  template <typename Value>
  Text& value(Value value, std::string_view suffix = {}, std::string_view labels = {}) {
    text_ += name_;
    text_ += suffix;
    if (!labels.empty()) (text_ += '{').append(labels) += '}';
    text_ += ' ' + std::to_string(value) + '\n';
    return *this;
  }
  Text& count(const char* name, const char* help, std::uint64_t count) {
    return metric(name, "counter", help).value(count);
  }
  Text& gauge(const char* name, const char* help, std::uint64_t count) {
    return metric(name, "gauge", help).value(count);
  }

  /// In seconds and cumulative, as Prometheus requires. `labels` go before `le` and end with a
  /// comma.
  Text& histogram(const TimeHistogram& histogram, const std::string& labels = {}) {
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
      below += histogram.counts[i];
      const bool last = i == TimeHistogram::kBounds.size();
      const std::string bound = last ? "+Inf" : bound_text(TimeHistogram::kBounds[i]);
      value(below, "_bucket", labels + (labels.empty() ? "" : ",") + "le=\"" + bound + '"');
    }
    value(histogram.sum_ms * 1e-3, "_sum", labels);
    return value(below, "_count", labels);
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  static std::string bound_text(double milliseconds) {
    std::string text = std::to_string(milliseconds * 1e-3);
    while (text.ends_with('0')) text.pop_back();
    if (text.ends_with('.')) text.pop_back();
    return text;
  }

  std::string text_, name_;
};

void add_requests(Text& text, const Metrics& metrics) {
  text.metric("requests_total", "counter", "Requests that were answered, by where from.");
  for (std::size_t i = 0; i < metrics.answered.size(); ++i) {
    const auto tier = to_string(static_cast<CacheTier>(i));
    text.value(metrics.answered[i], "", "tier=\"" + std::string(tier) + '"');
  }
  text.count("requests_failed_total", "Requests that failed.", metrics.failed)
      .count("misses_total", "Requests for kernels that may not be compiled.", metrics.missed)
      .count("fallbacks_total", "Of those: answered with a more general kernel.", metrics.fallbacks)
      .count("compiled_in_capture_total", "Compiles while a stream was being captured.",
             metrics.compiled_in_capture)
      .count("slow_compiles_total", "Compiles that took longer than the limit.", metrics.slow)
      .count("cubin_bytes_total", "Bytes of cubins that were read, fetched or compiled.",
             metrics.cubin_bytes)
      .gauge("known_kernels", "Descriptors that were asked for.", metrics.known)
      .gauge("sealed", "1 if nothing is compiled any more.", metrics.sealed ? 1 : 0);
  text.metric("step_seconds", "histogram", "Of requests that memory did not answer.");
  text.histogram(metrics.plan, "step=\"plan\"")
      .histogram(metrics.lookup, "step=\"lookup\"")
      .histogram(metrics.render, "step=\"render\"")
      .histogram(metrics.nvrtc, "step=\"nvrtc\"")
      .histogram(metrics.publish, "step=\"publish\"")
      .histogram(metrics.load, "step=\"load\"");
}

void add_service(Text& text, const ServiceStats& stats) {
  text.gauge("service_queued", "Kernels that wait to be compiled.", stats.queued)
      .gauge("service_running", "Kernels that are being asked for.", stats.running)
      .gauge("service_workers", "Worker processes alive.", stats.workers)
      .count("service_requests_total", "Requests for later.", stats.requests)
      .count("service_joined_total", "Of those: shared a job.", stats.joined)
      .count("service_raised_total", "Of those: somebody came to wait for it.", stats.raised)
      .count("service_refused_total", "Of those: the queue was full.", stats.refused)
      .count("service_expired_total", "Of those: ended by their deadline.", stats.expired)
      .count("service_withdrawn_total", "Of those: cancelled.", stats.withdrawn);
  text.metric("service_jobs_total", "counter", "Jobs that have ended.")
      .value(stats.done, "", "end=\"done\"")
      .value(stats.failed, "", "end=\"failed\"")
      .value(stats.cancelled, "", "end=\"cancelled\"");
  text.metric("compiles_total", "counter", "Calls of the compiler.")
      .value(stats.in_process, "", "where=\"process\"")
      .value(stats.in_workers, "", "where=\"worker\"");
  text.count("compile_retries_total", "Compiles that another worker was asked for.", stats.retries)
      .count("worker_starts_total", "Workers that were started.", stats.worker_starts)
      .count("worker_restarts_total", "Of those: in the place of one that failed.",
             stats.worker_restarts);
  text.metric("worker_failures_total", "counter", "Workers that failed.")
      .value(stats.worker_crashes, "", "why=\"crash\"")
      .value(stats.worker_timeouts, "", "why=\"timeout\"")
      .value(stats.worker_out_of_memory, "", "why=\"memory\"")
      .value(stats.worker_rubbish, "", "why=\"rubbish\"");
  text.count("quick_builds_total", "Kernels given out as quick builds.", stats.quick_builds)
      .count("swaps_total", "Of those: now the full build.", stats.swaps)
      .count("swap_failures_total", "Of those: stay quick.", stats.swap_failures);
  text.metric("service_wait_seconds", "histogram", "From the first request until a job ran.")
      .histogram(stats.waited);
  text.metric("compile_seconds", "histogram", "The compiler's own time.").histogram(stats.compiled);
}

}  // namespace

std::string prometheus_text(const Compiler& compiler) {
  Text text;
  add_requests(text, compiler.metrics());
  add_service(text, compiler.service_stats());
  return text.take() + cache::prometheus_text(compiler.cache().counters());
}

}  // namespace tilejit
