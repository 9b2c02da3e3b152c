#include "front/compiler_impl.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "front/compile_options.hpp"
#include "front/entries.hpp"
#include "front/jobs.hpp"
#include "front/key.hpp"
#include "front/log.hpp"
#include "front/profiler_range.hpp"
#include "front/stopwatch.hpp"
#include "tilejit/cache/files.hpp"
#include "tilejit/cache_identity.hpp"
#include "tilejit/error.hpp"

namespace tilejit {
namespace {

constexpr std::uintmax_t kLargestKey = 1 << 16;  // bytes; limit for a PEM file

cache::Options store_options(const Options& options) {
  return {.folder = options.cache_folder.value_or(std::filesystem::path()),
          .read_only = options.cache_path,
          .copy_after = options.cache_copy_after,
          .bundle_signer = front::bundle_signer(options.cache_bundle_key),
          .memory_bytes = options.cache_memory_bytes,
          .trust = front::trust_of(options),
          .identity = is_entry_of,
          // A compile in a worker takes no longer than that.
          .lock_wait = std::min(cache::Options().lock_wait, options.worker_timeout),
          .bounds = {.bytes = options.cache_max_bytes, .age = options.cache_max_age},
          .remote = options.cache_remote,
          .warn = front::warn};
}

cache::Store open_store(const Options& options) {
  try {
    return cache::Store(store_options(options));
  } catch (const std::invalid_argument& error) {
    throw Error(ErrorCode::invalid_argument, error.what(), "cache_remote");
  }
}

compile::CompilerId installed_compiler(const std::filesystem::path& nvrtc_path) {
  return compile::find_nvrtc(nvrtc_path).value_or(compile::CompilerId{});
}

/// Makes an artifact that shares the cache's entry.
Artifact make_artifact(const operation::Plan& plan, std::string key, const cache::Answer& answer,
                       const StepTimes& times) {
  const auto& entry = answer.entry;
  return {.key = std::move(key),
          .kernel_name = plan.kernel_name,
          .target = plan.target,
          .tier = front::tier_of(answer.tier),
          .cubin = std::shared_ptr<const std::string>(entry, &entry->payload),
          .metadata = std::shared_ptr<const std::string>(entry, &entry->metadata),
          .times = times};
}

cache::Answer ask(cache::Store& store, const std::string& key,
                  const std::function<cache::Entry()>& make) {
  try {
    return store.find_or_make(key, make);
  } catch (const cache::MissingEntry& missing) {
    throw Error(ErrorCode::no_compiler, missing.what());
  }
}

}  // namespace

namespace front {

CacheTier tier_of(cache::Tier tier) noexcept {
  switch (tier) {
    case cache::Tier::memory: return CacheTier::memory;
    case cache::Tier::disk: return CacheTier::disk;
    case cache::Tier::read_only: return CacheTier::read_only;
    case cache::Tier::remote: return CacheTier::remote;
    case cache::Tier::made: break;
  }
  return CacheTier::compiled;
}

cache::Trust trust_of(const Options& options) noexcept {
  return options.cache_trust_anyone ? cache::Trust::anyone : cache::Trust::own;
}

std::optional<cache::PublicKey> bundle_signer(const std::filesystem::path& path) {
  if (path.empty()) return std::nullopt;
  try {
    const cache::FileText file = cache::read_file(path, {.most_bytes = kLargestKey});
    if (file.outcome != cache::FileText::Outcome::read)
      throw std::invalid_argument("it cannot be read: " + file.reason);
    return cache::parse_public_key(file.bytes);
  } catch (const std::invalid_argument& error) {
    throw Error(ErrorCode::invalid_argument,
                "the key of cache bundles, " + path.string() + ", cannot be used: " + error.what(),
                "cache_bundle_key");
  }
}

SymbolValues examples_of(const Operation& op) {
  SymbolValues values;
  for (const Symbol& symbol : op.symbols()) {
    if (symbol.example) values.emplace(symbol.name, *symbol.example);
  }
  return values;
}

Planned make_planned(const Operation& op, const Target& target) {
  const Stopwatch watch;
  operation::Plan plan = op.descriptor().plan(target);
  return {.plan = std::move(plan), .milliseconds = watch.milliseconds()};
}

compile::Request make_request(const operation::Plan& plan, Effort effort) {
  compile::Request request{.source = plan.body->source(),
                           .target = to_string(plan.target),
                           .options = own_options(effort)};
  for (std::string& option : plan.body->options()) request.options.push_back(std::move(option));
  return request;
}

}  // namespace front

Compiler::Impl::Impl(Options settings)
    : options(std::move(settings)),
      store(open_store(options)),
      requests(options),
      installed_(installed_compiler(options.nvrtc_path)),
      pool_(pool_options()),
      queue_(front::jobs_of(options), options.compile_queue) {}

Compiler::Impl::~Impl() {
  queue_.close();
  pool_.stop();
}

compile::PoolOptions Compiler::Impl::pool_options() {
  return {.jobs = front::jobs_of(options),
          .threads = options.compile_threads,
          .program = options.worker_path,
          .limits = {.time = options.worker_timeout,
                     .memory_bytes = options.worker_memory_bytes,
                     .start = std::min(compile::WorkerLimits().start, options.worker_timeout)},
          .nvrtc = [this]() -> const compile::Nvrtc& { return nvrtc(); },
          .compiler = [this] { return installed_.build.empty() ? nvrtc().id() : installed_; },
          .warn = front::warn};
}

const TuningFile& Compiler::Impl::tuning_file() {
  std::call_once(tuning_read_, [this] {
    if (!options.tuning_file) return;
    try {
      tuning_ = TuningFile::load(*options.tuning_file, front::trust_of(options));
    } catch (const Error& error) {
      front::warn(std::string("kernels are not tuned: ") + error.what());
    }
  });
  return tuning_;
}

std::optional<Compiler::Impl::Tuned> Compiler::Impl::find_tuned(const Operation& op,
                                                                const front::Planned& planned,
                                                                std::string_view device) {
  const TuningFile& file = tuning_file();
  if (file.empty() || op.tuning() != Tuning{}) return std::nullopt;
  const Target& target = planned.plan.target;
  const TunedEntry* entry = file.find(planned.plan.body->tuning_class(), target, device);
  if (entry == nullptr || entry->tuning == Tuning{}) return std::nullopt;
  try {
    return Tuned{entry->tuning, op.descriptor().plan_with(entry->tuning, planned.plan)};
  } catch (const Error&) {
    return std::nullopt;  // knobs of a similar operation may not fit this one
  }
}

front::Planned Compiler::Impl::plan(const Operation& op, const Target& target,
                                    std::string_view device) {
  front::Planned planned = front::make_planned(op, target);
  const front::Stopwatch watch;
  if (auto tuned = find_tuned(op, planned, device)) planned.plan = std::move(tuned->plan);
  planned.milliseconds += watch.milliseconds();
  return planned;
}

Artifact Compiler::Impl::compile(const front::Planned& planned, front::Manner manner) {
  const StepTimes times{.plan = planned.milliseconds};
  if (const char* const why = requests.forbidden()) {
    if (auto found = find(planned, manner.effort)) return *std::move(found);
    throw MissError(planned.plan.kernel_name, planned.plan.target, why, std::nullopt);
  }
  if (!installed_.build.empty()) return find_or_make(planned, installed_.build, manner, times);
  if (auto found = find_of_any_compiler(planned, manner.effort, times)) return *std::move(found);
  // Throws with the places that were searched for NVRTC, unless it has been installed meanwhile.
  return find_or_make(planned, nvrtc().id().build, manner, times);
}

const compile::Nvrtc& Compiler::Impl::nvrtc() {
  const std::lock_guard lock(mutex_);
  if (!nvrtc_) nvrtc_.emplace(options.nvrtc_path);
  return *nvrtc_;
}

std::optional<Artifact> Compiler::Impl::find(const front::Planned& planned, front::Effort effort) {
  StepTimes times{.plan = planned.milliseconds};
  if (installed_.build.empty()) return find_of_any_compiler(planned, effort, times);
  const front::Stopwatch watch;
  std::string key = explain(planned, effort).key;
  const auto answer = store.find(key);
  if (!answer) return std::nullopt;
  times.lookup = watch.milliseconds();
  return make_artifact(planned.plan, std::move(key), *answer, times);
}

std::optional<Artifact> Compiler::Impl::find_of_any_compiler(const front::Planned& planned,
                                                             front::Effort effort,
                                                             StepTimes times) {
  const front::Stopwatch watch;
  for (const std::string& build : store.markers(front::kCompilers)) {
    std::string key = cache::sha256_hex(front::key_text(planned.plan, build, line_info(), effort));
    if (const auto answer = store.find(key)) {
      times.lookup = watch.milliseconds();
      return make_artifact(planned.plan, std::move(key), *answer, times);
    }
  }
  return std::nullopt;
}

Artifact Compiler::Impl::find_or_make(const front::Planned& planned, const std::string& build,
                                      front::Manner manner, StepTimes times) {
  front::Stopwatch watch;
  KeyExplanation key;
  key.fields = front::key_text(planned.plan, build, line_info(), manner.effort);
  key.key = cache::sha256_hex(key.fields);
  times.key = watch.milliseconds();

  watch = {};
  std::optional<front::Stopwatch> since_made;
  const cache::Answer answer = ask(store, key.key, [&] {
    times.lookup = watch.milliseconds();
    cache::Entry entry = make(planned.plan, key, manner, times);
    since_made.emplace();
    return entry;
  });
  if (since_made) {
    // If the entry could not be written, neither can a marker, and one warning is enough.
    std::error_code error;
    if (std::filesystem::exists(store.path_of(key.key), error)) {
      store.add_marker(front::kCompilers, build);
    }
    times.publish = since_made->milliseconds();
  } else {
    times.lookup = watch.milliseconds();
  }
  return make_artifact(planned.plan, std::move(key.key), answer, times);
}

cache::Entry Compiler::Impl::make(const operation::Plan& plan, const KeyExplanation& key,
                                  front::Manner manner, StepTimes& times) {
  const front::ProfilerRange range("compile", plan.kernel_name);
  const front::Stopwatch watch;
  compile::Request request = front::make_request(plan, manner.effort);
  request.want_ptx = options.cache_keep.ptx;
  if (options.line_info) front::add_line_info(request, key.key + ".cu");
  times.render = watch.milliseconds();
  compile::Compiled compiled = pool_.compile(request, manner.urgency);
  times.nvrtc = compiled.milliseconds;
  front::require_entries(plan, request.source, compiled.cubin);
  keep(key.key, request.source, compiled);
  std::string metadata =
      front::metadata_text(plan, key.fields, compiled.log, compiled.compiler_version, times);
  return {.payload = std::move(compiled.cubin), .metadata = std::move(metadata)};
}

void Compiler::Impl::keep(const std::string& key, const operation::Source& source,
                          const compile::Compiled& compiled) {
  if (options.cache_keep.source) store.keep(key, "cu", operation::flatten(source));
  if (options.cache_keep.ptx) store.keep(key, "ptx", compiled.ptx);
  if (options.cache_keep.log) store.keep(key, "log", compiled.log);
  if (options.cache_keep.sass) keep_sass(key, compiled.cubin);
}

KeyExplanation Compiler::Impl::explain(const front::Planned& planned, front::Effort effort) const {
  std::string build = installed_.build;
  if (build.empty()) {
    const std::vector<std::string> known = store.markers(front::kCompilers);
    if (!known.empty()) build = known.front();
  }
  std::string fields = front::key_text(planned.plan, build, line_info(), effort);
  return {.key = cache::sha256_hex(fields), .fields = std::move(fields)};
}

}  // namespace tilejit
