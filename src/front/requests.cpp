#include "front/requests.hpp"

#include <cstdio>
#include <utility>

#include "front/log.hpp"

namespace tilejit::front {
namespace {

constexpr const char* kSealed = "compiling has been sealed";

thread_local const char* forbidden_here = nullptr;

std::unique_ptr<usage::Recorder> recorder_of(const Options& options) {
  if (options.record.empty()) return nullptr;
  return std::make_unique<usage::Recorder>(options.record, warn);
}

/// The time that a caller waited for a compile.
double compile_ms(const StepTimes& times) noexcept {
  return times.render + times.nvrtc + times.publish;
}

std::string milliseconds_text(double milliseconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f ms", milliseconds);
  return text;
}

}  // namespace

Requests::Requests(const Options& options)
    : policy_(options.miss_policy),
      slow_ms_(static_cast<double>(options.slow_compile.count())),
      on_slow_(options.on_slow_compile),
      recorder_(recorder_of(options)) {}

Requests::~Requests() {
  if (!recorder_) return;
  std::unordered_map<std::string, std::uint64_t> uses;
  for (const auto& [number, id] : ids_) uses[id] += index_.at(number).uses;
  recorder_->finish(uses);
}

ForbidScope::ForbidScope(const char* why) noexcept : outer_(forbidden_here) {
  if (why != nullptr) forbidden_here = why;
}

ForbidScope::~ForbidScope() {
  forbidden_here = outer_;
}

const char* Requests::forbidden() const noexcept {
  if (sealed_) return kSealed;
  if (policy_ == MissPolicy::error) return "compiling is forbidden (TILEJIT_MISS=error)";
  if (policy_ == MissPolicy::fallback) return "compiling is forbidden (TILEJIT_MISS=fallback)";
  return forbidden_here;
}

void Requests::admit(const Operation& op, const Target& target) {
  if (sealed_ && !index_.served(op, target)) throw missed(op, target, kSealed);
}

std::optional<std::size_t> Requests::use(const Operation& op, const Target& target) {
  const auto number = index_.use(op, target);
  if (number) ++memory_hits_;
  return number;
}

void Requests::count(const Artifact& artifact) {
  if (artifact.tier == CacheTier::memory) {
    ++memory_hits_;
    return;
  }
  count_steps(artifact);
  if (artifact.tier == CacheTier::compiled) tell_of_compile(artifact);
}

MissError Requests::missed(const Operation& op, const Target& target, const std::string& why) {
  return missed(op, target, why, index_.nearest(op, target));
}

MissError Requests::missed(const Operation& op, const Target& target, const std::string& why,
                           std::optional<NearestKernel> nearest) {
  ++missed_;
  MissError error(op.name(), target, why, std::move(nearest));
  if (recorder_) (void)note(op, target, false);
  return error;
}

// Only the first use of a descriptor touches the file.
std::optional<std::size_t> Requests::note(const Operation& op, const Target& target, bool served) {
  const auto noted = index_.note(op, target, served);
  if (!noted) return std::nullopt;
  if (noted->is_new && recorder_) {
    std::string id = recorder_->first_use(op, target);
    const std::lock_guard lock(mutex_);
    if (!id.empty()) ids_[noted->number] = std::move(id);
  }
  return noted->number;
}

void Requests::count_steps(const Artifact& artifact) {
  const StepTimes& times = artifact.times;
  const std::lock_guard lock(mutex_);
  ++metrics_.answered[static_cast<std::size_t>(artifact.tier)];
  metrics_.cubin_bytes += artifact.cubin->size();
  metrics_.plan.add(times.plan);
  metrics_.lookup.add(times.lookup);
  if (times.load > 0) metrics_.load.add(times.load);
  if (artifact.tier != CacheTier::compiled) return;
  metrics_.render.add(times.render);
  metrics_.nvrtc.add(times.nvrtc);
  metrics_.publish.add(times.publish);
}

void Requests::tell_of_compile(const Artifact& artifact) {
  const double spent = compile_ms(artifact.times);
  const bool is_slow = slow_ms_ > 0 && spent > slow_ms_;
  if (is_slow) ++slow_;
  if (is_slow || policy_ == MissPolicy::warn) {
    warn("compiled " + artifact.kernel_name + " for " + to_string(artifact.target) + " in " +
         milliseconds_text(spent) +
         (is_slow ? ", longer than the limit of " + milliseconds_text(slow_ms_)
                  : ", as no cache had it"));
  }
  if (is_slow && on_slow_) {
    on_slow_({.kernel = artifact.kernel_name, .target = artifact.target, .milliseconds = spent});
  }
}

Metrics Requests::metrics() const {
  Metrics metrics;
  {
    const std::lock_guard lock(mutex_);
    metrics = metrics_;
  }
  metrics.answered[static_cast<std::size_t>(CacheTier::memory)] = memory_hits_;
  metrics.failed = failed_;
  metrics.missed = missed_;
  metrics.fallbacks = fallbacks_;
  metrics.compiled_in_capture = in_capture_;
  metrics.slow = slow_;
  metrics.known = index_.size();
  metrics.sealed = sealed_;
  return metrics;
}

}  // namespace tilejit::front
