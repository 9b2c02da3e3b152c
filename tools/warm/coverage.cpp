#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "cache/cache_places.hpp"
#include "common/command.hpp"
#include "common/options.hpp"
#include "warm/warm_list.hpp"

namespace tilejit::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kListed = 20;  // missing kernels that the text lists

struct CoverageOptions {
  std::vector<std::string> paths, targets, devices;
  std::string bundle, folder;
  bool no_tuning = false;
  bool allow_source = false;
  bool json = false;
};

Options settings_of(const CoverageOptions& options) {
  Options settings = options_from_env(options.no_tuning);
  settings.record.clear();
  settings.cache_remote.url.clear();
  if (!options.folder.empty() || !options.bundle.empty()) {
    settings.cache_folder.reset();
    settings.cache_path.clear();
  }
  // The places are only read: a question changes nothing.
  for (const std::string& path : {options.folder, options.bundle}) {
    if (path.empty()) continue;
    if (!std::filesystem::exists(path)) throw UsageError(path + " does not exist; check the path");
    (void)Place(settings.cache_path.emplace_back(path), settings).list();
  }
  return settings;
}

/// How much of the kernels a target has.
struct Covered {
  std::size_t kernels = 0, present = 0;
};

void print_text(const std::map<std::string, Covered>& by_target,
                const std::vector<std::string>& missing) {
  std::vector<std::vector<std::string>> rows = {{"TARGET", "KERNELS", "PRESENT", "%"}};
  for (const auto& [target, covered] : by_target) {
    rows.push_back({target, std::to_string(covered.kernels), std::to_string(covered.present),
                    fmt::format("{:.1f}", 100.0 * static_cast<double>(covered.present) /
                                              static_cast<double>(covered.kernels))});
  }
  fmt::print("{}", table_text(rows, {1, 2, 3}));
  for (std::size_t i = 0; i < std::min(kListed, missing.size()); ++i) {
    fmt::print("missing: {}\n", missing[i]);
  }
  if (missing.size() > kListed) {
    fmt::print("and {} more; --json lists them all\n", missing.size() - kListed);
  }
}

void coverage(const CoverageOptions& options) {
  std::vector<Target> targets;
  for (const std::string& text : options.targets) targets.push_back(parse_target(text));
  WarmList list = read_warm_list(options.paths, targets, options.allow_source);
  const Compiler compiler(settings_of(options));
  take_devices(compiler, list, options.devices);
  const auto failures = locate_all(
      compiler, list, static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
  keep_distinct(list, {});

  std::map<std::string, Covered> by_target;
  std::vector<std::string> missing = list.faults;
  for (const PlanFailure& failure : failures) {
    missing.push_back(name_of(list, failure.job) + ": " + failure.error);
  }
  auto kernels = ordered_json::array();
  for (const WarmJob& job : list.jobs) {
    Covered& covered = by_target[to_string(job.target)];
    ++covered.kernels;
    if (job.location.tier) {
      ++covered.present;
    } else {
      missing.push_back(name_of(list, job));
    }
    if (!options.json) continue;
    kernels.push_back({{"name", list.op_of(job).name()},
                       {"target", to_string(job.target)},
                       {"device", job.device},
                       {"key", job.location.key},
                       {"tier", job.location.tier ? ordered_json(to_string(*job.location.tier))
                                                  : ordered_json()}});
  }
  if (options.json) {
    const ordered_json document = {{"entries", list.jobs.size()},
                                   {"complete", missing.empty()},
                                   {"missing", missing},
                                   {"kernels", std::move(kernels)}};
    fmt::print("{}\n", document.dump(2, ' ', false, ordered_json::error_handler_t::replace));
  } else {
    print_text(by_target, missing);
  }
  if (missing.empty()) return;
  throw Failure(fmt::format("{} of {} kernels are missing; tilejit warm compiles them",
                            missing.size(),
                            list.jobs.size() + failures.size() + list.faults.size()));
}

}  // namespace

void add_coverage(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "coverage", "Say which kernels of a manifest a cache has; exit code 1 if not all");
  auto options = std::make_shared<CoverageOptions>();
  command
      ->add_option("MANIFEST", options->paths,
                   "Manifests, spec files, folders of them; - for standard input")
      ->type_name("FILE")
      ->required();
  add_targets_option(*command, options->targets);
  add_devices_option(*command, options->devices);
  command->add_option("--bundle", options->bundle, "Look into this bundle alone")
      ->type_name("FILE");
  command->add_option("--cache-dir", options->folder, "Look into this folder alone")
      ->type_name("FOLDER");
  add_allow_source(*command, options->allow_source);
  add_no_tuning(*command, options->no_tuning);
  add_json(*command, options->json, "coverage");
  command->footer(
      "Needs no GPU and no NVRTC; a remote is not asked. Examples:\n"
      "  tilejit coverage used.jsonl\n"
      "  tilejit coverage used.jsonl --target sm_80,sm_90a --bundle kernels.tjb");
  command->callback([options] { coverage(*options); });
}

}  // namespace tilejit::cli
