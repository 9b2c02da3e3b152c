#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "cache/cache_places.hpp"
#include "common/command.hpp"
#include "common/files.hpp"
#include "common/interrupt.hpp"
#include "common/options.hpp"
#include "common/progress.hpp"
#include "kernels/report.hpp"
#include "tilejit/cache/store.hpp"
#include "tilejit/error.hpp"
#include "tilejit/metrics.hpp"
#include "tilejit/version.hpp"
#include "warm/warm_bundle.hpp"
#include "warm/warm_list.hpp"
#include "warm/warm_run.hpp"

namespace tilejit::cli {
namespace {

using nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

struct WarmOptions {
  std::vector<std::string> paths, targets, devices;
  int jobs = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  std::string shard = "1/1", bundle, private_key, marker, trace, metrics;
  bool dry_run = false, keep_going = false, quiet = false, json = false, no_tuning = false;
  bool allow_source = false;
};

/// What a run found and what it did.
struct WarmReport {
  std::size_t entries = 0, present = 0;
  std::map<std::string, std::pair<std::size_t, std::size_t>> by_target;  // entries, present
  std::vector<std::string> missing;                                      // names; only in a dry run
  WarmOutcome outcome;
  double list_seconds = 0, seconds = 0;  // of reading, planning and looking; of all work
  std::string keys;                      // SHA-256 of the sorted keys
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Options settings_of(const WarmOptions& options) {
  Options settings = options_from_env(options.no_tuning);
  (void)writable_folder(settings);
  settings.compile_jobs = options.jobs;
  settings.record.clear();
  settings.miss_policy = MissPolicy::allow;  // compiling is what this command is for
  // Uploads get the time to reach the remote before the command ends.
  settings.cache_remote.shutdown_timeout = std::chrono::minutes(10);
  settings.cache_remote.queued_uploads = 1u << 20;
  settings.cache_remote.queued_bytes = std::size_t{4} << 30;
  return settings;
}

std::vector<const WarmJob*> take_stock(const WarmList& list, WarmReport& report) {
  std::vector<const WarmJob*> missing;
  std::vector<std::string> keys;
  for (const WarmJob& job : list.jobs) {
    auto& [entries, present] = report.by_target[to_string(job.target)];
    ++entries;
    keys.push_back(job.location.key);
    if (job.location.tier) {
      ++present;
    } else {
      missing.push_back(&job);
    }
  }
  report.entries = list.jobs.size();
  report.present = report.entries - missing.size();
  std::ranges::sort(keys);
  std::string text;
  for (const std::string& key : keys) text += key + '\n';
  report.keys = cache::sha256_hex(text);
  return missing;
}

/// Throws Failure if a kernel has been evicted meanwhile, since a marker or a bundle says that
/// everything is there.
void check_all(const Compiler& compiler, const WarmList& list) {
  const auto gone = std::ranges::count_if(
      list.jobs, [&](const WarmJob& job) { return !compiler.cache().locate(job.location.key); });
  if (gone == 0) return;
  throw Failure(fmt::format(
      "{} of {} kernels are not in the cache any more: raise TILEJIT_CACHE_MAX_SIZE, or look for "
      "warnings above",
      gone, list.jobs.size()));
}

void write_marker(const WarmOptions& options, const WarmReport& report) {
  auto targets = ordered_json::object();
  for (const auto& [target, counts] : report.by_target) targets[target] = counts.first;
  const ordered_json document = {{"complete", true},       {"entries", report.entries},
                                 {"targets", targets},     {"keys", report.keys},
                                 {"shard", options.shard}, {"tilejit", version()}};
  write_file(options.marker, json_text(document) + "\n");
}

ordered_json report_json(const WarmOptions& options, const WarmReport& report) {
  const WarmOutcome& outcome = report.outcome;
  auto failures = ordered_json::array();
  for (const WarmFailure& failure : outcome.failures) {
    failures.push_back({{"name", failure.name}, {"error", failure.error}});
  }
  auto targets = ordered_json::object();
  for (const auto& [target, counts] : report.by_target) {
    targets[target] = {{"entries", counts.first}, {"present", counts.second}};
  }
  ordered_json document = {{"entries", report.entries},
                           {"present", report.present},
                           {"compiled", outcome.compiled},
                           {"fetched", outcome.fetched},
                           {"found", outcome.found},
                           {"failed", std::move(failures)},
                           {"shard", options.shard},
                           {"targets", std::move(targets)},
                           {"keys", report.keys},
                           {"interrupted", outcome.signal != 0},
                           {"list_seconds", report.list_seconds},
                           {"seconds", report.seconds},
                           {"nvrtc_seconds", outcome.nvrtc_ms * 1e-3}};
  if (options.dry_run) document["missing"] = report.missing;
  return document;
}

void print_summary(const WarmOptions& options, const WarmReport& report) {
  for (const std::string& name : report.missing) fmt::print("missing: {}\n", name);
  std::vector<std::vector<std::string>> rows = {{"TARGET", "KERNELS", "PRESENT", "MISSING"}};
  for (const auto& [target, counts] : report.by_target) {
    rows.push_back({target, std::to_string(counts.first), std::to_string(counts.second),
                    std::to_string(counts.first - counts.second)});
  }
  fmt::print("{}", table_text(rows, {1, 2, 3}));
  const double rate =
      report.list_seconds > 0 ? static_cast<double>(report.entries) / report.list_seconds : 0;
  fmt::print("{} kernels, {} of them present, read and looked for in {} ({:.0f} a second)\n",
             report.entries, report.present, duration_text(report.list_seconds), rate);
  if (options.dry_run) return;
  const WarmOutcome& outcome = report.outcome;
  fmt::print("{} compiled in {}", outcome.compiled,
             duration_text(report.seconds - report.list_seconds));
  if (outcome.fetched > 0) fmt::print(", {} fetched", outcome.fetched);
  if (outcome.found > 0) fmt::print(", {} compiled by others", outcome.found);
  fmt::print(", {} failed\n", outcome.failures.size());
}

[[noreturn]] void report_failures(const WarmOptions& options, const WarmReport& report) {
  const auto& failures = report.outcome.failures;
  std::string text = fmt::format("{} kernels {}:", failures.size(),
                                 options.dry_run ? "or lines cannot be read or planned" : "failed");
  for (const WarmFailure& failure : failures) text += "\n" + failure.name + ": " + failure.error;
  throw Failure(text);
}

/// The lines that cannot be read, and the kernels that cannot be planned.
std::vector<WarmFailure> faults_of(const WarmList& list, const std::vector<PlanFailure>& failures) {
  std::vector<WarmFailure> faults;
  for (const std::string& fault : list.faults) faults.push_back({fault, "left out"});
  for (const PlanFailure& failure : failures) {
    faults.push_back({name_of(list, failure.job), failure.error});
  }
  return faults;
}

void add_failures(const WarmOptions& options, const WarmList& list,
                  const std::vector<PlanFailure>& failures, WarmOutcome& outcome) {
  if (!failures.empty() && !options.keep_going) {
    const PlanFailure& first = failures.front();
    throw Error(first.code, fmt::format("{}: {}; {} such faults, --keep-going leaves them out",
                                        name_of(list, first.job), first.error, failures.size()));
  }
  outcome.failures = faults_of(list, failures);
  if (outcome.failures.empty() || options.keep_going) return;
  const WarmFailure& first = outcome.failures.front();
  throw Failure(fmt::format("{}: {}; {} such faults, --keep-going leaves them out", first.name,
                            first.error, outcome.failures.size()));
}

/// `compiler` filled the cache, and is replaced: its destructor waits for a pass that evicts, and
/// the entries in its memory do not show what the next process will find.
void finish(const WarmOptions& options, std::optional<Compiler>& compiler, const WarmList& list,
            const WarmReport& report) {
  if (options.bundle.empty() && options.marker.empty()) return;
  compiler.reset();
  compiler.emplace(settings_of(options));
  check_all(*compiler, list);
  if (!options.bundle.empty()) write_bundle(*compiler, list, options.bundle, options.private_key);
  if (!options.marker.empty()) write_marker(options, report);
}

void warm(const WarmOptions& options) {
  const auto start = Clock::now();
  const Shard shard = parse_shard(options.shard);
  const InterruptScope interrupts;
  std::error_code ignored;
  // An earlier run's marker does not hold until this run is complete.
  if (!options.marker.empty() && !options.dry_run) std::filesystem::remove(options.marker, ignored);

  std::vector<Target> targets;
  for (const std::string& text : options.targets) targets.push_back(parse_target(text));
  WarmList list = read_warm_list(options.paths, targets, options.allow_source);
  std::optional<Compiler> compiler(settings_of(options));
  take_devices(*compiler, list, options.devices);
  WarmReport report;
  const auto failures = locate_all(*compiler, list, options.jobs);
  keep_distinct(list, shard);
  const std::vector<const WarmJob*> missing = take_stock(list, report);
  report.list_seconds = seconds_since(start);

  Trace trace;
  if (options.dry_run) {
    for (const WarmJob* job : missing) report.missing.push_back(name_of(list, *job));
    report.outcome.failures = faults_of(list, failures);
  } else {
    WarmOutcome planned;
    add_failures(options, list, failures, planned);
    report.outcome = run_warm(
        *compiler, list, missing,
        {.jobs = options.jobs, .keep_going = options.keep_going, .quiet = options.quiet}, trace);
    auto& all = report.outcome.failures;
    all.insert(all.begin(), planned.failures.begin(), planned.failures.end());
  }
  report.seconds = seconds_since(start);
  if (!options.trace.empty()) write_file(options.trace, trace.to_json());
  if (!options.metrics.empty()) write_file(options.metrics, prometheus_text(*compiler));
  if (options.json) {
    fmt::print(
        "{}\n",
        report_json(options, report).dump(2, ' ', false, ordered_json::error_handler_t::replace));
  } else {
    print_summary(options, report);
  }
  if (report.outcome.signal != 0) {
    throw Interrupted(report.outcome.signal,
                      fmt::format("stopped with {} of {} kernels in the cache; the same command "
                                  "goes on from there",
                                  report.present + report.outcome.done(), report.entries));
  }
  if (!report.outcome.failures.empty()) report_failures(options, report);
  if (options.dry_run) return;
  finish(options, compiler, list, report);
}

}  // namespace

void add_warm(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("warm", "Compile ahead what spec files or manifests ask for");
  auto options = std::make_shared<WarmOptions>();
  command
      ->add_option("SPEC", options->paths,
                   "Spec files, manifests, folders of them; - for standard input")
      ->type_name("FILE")
      ->required();
  add_targets_option(*command, options->targets);
  add_devices_option(*command, options->devices);
  add_jobs(*command, options->jobs);
  command->add_option("--shard", options->shard, "Only this part of the kernels, as 2/8")
      ->type_name("I/N")
      ->capture_default_str();
  const auto add_file = [&](const char* name, std::string& path, const char* description) {
    command->add_option(name, path, description)->type_name("FILE");
  };
  add_file("--bundle", options->bundle, "Write all of them into a bundle at the end");
  add_file("--sign", options->private_key,
           "Sign the bundle with this Ed25519 private key, a PEM file");
  add_file("--marker", options->marker,
           "A file that is there only if every kernel is in the cache");
  add_file("--trace", options->trace, "Write what ran when, for chrome://tracing");
  add_file("--metrics", options->metrics, "Write what was counted, for Prometheus");
  command->add_flag("--dry-run", options->dry_run, "Only say what is missing; needs no NVRTC");
  command->add_flag("--keep-going", options->keep_going, "Go on after a kernel that fails");
  command->add_flag("--quiet", options->quiet, "Without progress");
  add_allow_source(*command, options->allow_source);
  add_no_tuning(*command, options->no_tuning);
  add_json(*command, options->json, "warm");
  command->footer(
      "Needs no GPU and no driver. Interrupted, it goes on where it was. Examples:\n"
      "  tilejit warm examples/catalogue --target sm_80,sm_90a -j 8\n"
      "  tilejit warm used.jsonl --target sm_90a --bundle kernels.tjb\n"
      "  tilejit warm used.jsonl --shard 3/16 --marker done.json --keep-going");
  command->callback([options] { warm(*options); });
}

}  // namespace tilejit::cli
