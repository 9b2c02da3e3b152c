#include "tilejit/tune.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/command.hpp"
#include "common/options.hpp"
#include "common/sentence.hpp"
#include "common/spec_file.hpp"
#include "kernels/report.hpp"
#include "kernels/tuner.hpp"
#include "tilejit/error.hpp"

namespace tilejit::cli {
namespace {

using nlohmann::ordered_json;

struct TuneOptions {
  std::string spec, kernel, target, tuning_file;
  std::vector<std::string> dims, scalars, merged;
  std::size_t budget = 24;
  int jobs = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  int device = -1;
  std::uint64_t seed = 1;
  bool dry_run = false;
  bool json = false;
  bool allow_source = false;
};

void print(const ordered_json& document) {
  fmt::print("{}\n", document.dump(2, ' ', false, ordered_json::error_handler_t::replace));
}

std::filesystem::path file_of(const TuneOptions& options, const Options& settings) {
  if (!options.tuning_file.empty()) return options.tuning_file;
  if (settings.tuning_file) return *settings.tuning_file;
  throw UsageError(
      "there is no tuning file to write, since no cache folder is used; name one with "
      "--tuning");
}

/// The earlier results, together with the files to merge into them.
TuningFile load_all(const std::filesystem::path& path, const std::vector<std::string>& merged,
                    cache::Trust trust) {
  TuningFile file = TuningFile::load(path, trust);
  for (const std::string& other : merged) {
    // A person named this file, so anyone may own it.
    const TuningFile shipped = TuningFile::load(other, cache::Trust::anyone);
    if (shipped.empty()) throw UsageError(other + " holds no tuned kernels; check the path");
    file.merge(shipped);
  }
  return file;
}

Runtime open_runtime(const TuneOptions& options, Options settings) {
  settings.tuning_file.reset();  // candidates are compared with the plan's own choice
  if (options.device >= 0) settings.device = options.device;
  try {
    return Runtime(std::move(settings));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::no_driver && error.code() != ErrorCode::no_device) throw;
    throw Failure("tuning measures on a GPU: " + sentence(error) +
                  "; --dry-run lists and compiles the candidates without one");
  }
}

// ---- trials on the device

std::string trial_text(const Trial& trial, double planned_ms) {
  const std::string knobs = knobs_text(trial.tuning);
  if (!trial.failure.empty()) return fmt::format("  {:<40} out: {}\n", knobs, trial.failure);
  return fmt::format("  {:<40} {:9.2f} us  {:+6.1f} %\n", knobs, trial.milliseconds * 1e3,
                     100 * (trial.milliseconds / planned_ms - 1));
}

ordered_json trials_json(const TunedEntry& entry, const std::vector<Trial>& trials,
                         std::size_t best) {
  ordered_json list = ordered_json::array();
  for (const Trial& trial : trials) {
    ordered_json json = {{"tuning", tuning_json(trial.tuning)}};
    if (trial.failure.empty()) {
      json["milliseconds"] = trial.milliseconds;
    } else {
      json["failure"] = trial.failure;
    }
    list.push_back(std::move(json));
  }
  return {{"name", entry.name},     {"class", entry.operation_class},
          {"device", entry.device}, {"target", to_string(entry.target)},
          {"trials", list},         {"best", best}};
}

Inputs read_inputs(const TuneOptions& options, const std::vector<Operation>& ops) {
  Inputs inputs{.dims = parse_assignments(options.dims, "--dims"),
                .scalars = parse_assignments(options.scalars, "--scalars"),
                .arrays = {},
                .seed = options.seed};
  check_names(inputs.dims, ops, Named::symbol);
  check_names(inputs.scalars, ops, Named::scalar);
  return inputs;
}

/// Tunes one kernel and prints the result.
ordered_json tune_kernel(const TuneOptions& options, const Inputs& inputs, Runtime& runtime,
                         const Operation& op, TuningFile& file) {
  const Target target = runtime.device().target;
  const Problem problem = make_problem(op, resolve_access(op), inputs);
  const std::vector<Tuning> candidates = tuning_candidates(op, target, options.budget);
  if (!options.json) say(fmt::format("{}: {} candidates\n", op.name(), candidates.size()));
  compile_all(runtime.compiler(), with_knobs(op, candidates), target, options.jobs,
              [](std::size_t, const Compiled&) {});

  Tuner tuner(runtime, problem);
  double planned_ms = 0;
  const auto trials = run_trials(
      op, candidates, [&](const Operation& pinned) { return tuner.milliseconds(pinned); },
      [&](const Trial& trial) {
        if (planned_ms == 0) planned_ms = trial.milliseconds;
        if (!options.json) say(trial_text(trial, planned_ms));
      });
  const std::size_t best = best_trial(trials);
  const TunedEntry entry{.operation_class = operation_class(op, target),
                         .target = target,
                         .device = runtime.device().name,
                         .tuning = trials[best].tuning,
                         .milliseconds = trials[best].milliseconds,
                         .default_milliseconds = planned_ms,
                         .name = op.name()};
  file.add(entry);
  if (!options.json) fmt::print("  best: {}\n", knobs_text(entry.tuning));
  return trials_json(entry, trials, best);
}

void tune_on_device(const TuneOptions& options, const std::vector<Operation>& ops) {
  const Options settings = options_from_env(false);
  const std::filesystem::path path = file_of(options, settings);
  TuningFile file = load_all(
      path, options.merged, settings.cache_trust_anyone ? cache::Trust::anyone : cache::Trust::own);
  auto kernels = ordered_json::array();
  if (!ops.empty()) {
    const Inputs inputs = read_inputs(options, ops);
    Runtime runtime = open_runtime(options, settings);
    for (const Operation& op : ops) {
      kernels.push_back(tune_kernel(options, inputs, runtime, op, file));
      file.publish(path);  // keeps the measurements, whatever happens to the next kernel
    }
  }
  file.publish(path);
  if (options.json) {
    print(
        {{"kernels", kernels}, {"tuning_file", path.string()}, {"entries", file.entries().size()}});
  } else {
    fmt::print("{} entries in {}\n", file.entries().size(), path.string());
  }
}

// ---- without a device

ordered_json candidate_json(const Operation& op, const Target& target, const Compiled& compiled) {
  const auto plan = ordered_json::parse(render_plan(op, target));
  ordered_json json = {{"tuning", tuning_json(op.tuning())},
                       {"template", plan["template"]},
                       {"figures", plan["figures"]}};
  if (plan.contains("threads")) json["threads"] = plan["threads"];
  if (compiled.artifact) {
    json["artifact"] = artifact_json(*compiled.artifact);
  } else {
    json["failure"] = compiled.failure;
  }
  return json;
}

std::string candidate_text(const ordered_json& candidate) {
  const ordered_json& figures = candidate["figures"];
  std::string outcome = candidate.value("failure", "");
  if (outcome.empty()) {
    const ordered_json& metadata = candidate["artifact"]["metadata"];
    outcome = fmt::format("{} registers, {} bytes spilled", metadata.value("registers", 0),
                          metadata.value("spill_bytes", 0));
  }
  if (!figures.contains("bytes_in_flight_a_multiprocessor") && !figures.contains("parts")) {
    return outcome;  // of the caller's own source
  }
  if (!candidate.contains("threads")) {
    return fmt::format("{} kernels; {}", figures["parts"].size(), outcome);
  }
  return fmt::format(
      "{} threads, {} in flight a multiprocessor; {}", candidate["threads"].get<int>(),
      bytes_text(figures["bytes_in_flight_a_multiprocessor"].get<double>()), outcome);
}

void list_candidates(const TuneOptions& options, const std::vector<Operation>& ops) {
  const Target target = options.target.empty() ? default_target() : parse_target(options.target);
  Compiler compiler(options_from_env(true));
  auto kernels = ordered_json::array();
  for (const Operation& op : ops) {
    const std::vector<Tuning> candidates = tuning_candidates(op, target, options.budget);
    const std::vector<Operation> pinned = with_knobs(op, candidates);
    const std::string op_class = operation_class(op, target);
    if (!options.json)
      say(fmt::format("{}: {} candidates; {}\n", op.name(), pinned.size(), op_class));
    auto list = ordered_json::array();
    const auto landed = [&](std::size_t i, const Compiled& compiled) {
      list.push_back(candidate_json(pinned[i], target, compiled));
      if (options.json) return;
      say(fmt::format("  {:<40} {}\n", knobs_text(candidates[i]), candidate_text(list.back())));
    };
    compile_all(compiler, pinned, target, options.jobs, landed);
    kernels.push_back({{"name", op.name()}, {"class", op_class}, {"candidates", std::move(list)}});
  }
  if (options.json) print({{"target", to_string(target)}, {"kernels", std::move(kernels)}});
}

void tune(const TuneOptions& options) {
  if (options.spec.empty() && options.merged.empty()) {
    throw UsageError("SPEC is required, unless files are merged with --merge");
  }
  std::vector<Operation> ops;
  if (!options.spec.empty())
    ops = select_kernels(load_specs(options.spec, options.allow_source), options.kernel);
  if (options.dry_run) return list_candidates(options, ops);
  if (!options.target.empty())
    throw UsageError("--target goes with --dry-run; a device has its own");
  tune_on_device(options, ops);
}

}  // namespace

void add_tune(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("tune", "Measure plans of the kernels of a spec, and keep the best");
  auto options = std::make_shared<TuneOptions>();
  command->add_option("SPEC", options->spec, "Spec file, - for standard input")->type_name("FILE");
  add_kernel(*command, options->kernel);
  command->add_option("--budget", options->budget, "Candidates a kernel, beside the plan itself")
      ->type_name("N")
      ->check(whole(1, 1000))
      ->capture_default_str();
  add_jobs(*command, options->jobs);
  add_device(*command, options->device);
  add_dims(*command, options->dims);
  add_scalars(*command, options->scalars);
  add_seed(*command, options->seed);
  command
      ->add_option("--tuning", options->tuning_file,
                   "Tuning file to write; default: TILEJIT_TUNING, else beside the cache")
      ->type_name("FILE");
  command->add_option("--merge", options->merged, "Tuning file to take over; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command->add_flag("--dry-run", options->dry_run,
                    "List and compile the candidates; needs no GPU, writes no tuning file");
  command->add_option("--target", options->target, "With --dry-run: sm_75 to sm_120a")
      ->type_name("TARGET");
  add_allow_source(*command, options->allow_source);
  add_json(*command, options->json);
  command->footer(
      "Later compiles of similar operations on such a device take the best. Examples:\n"
      "  tilejit tune examples/catalogue/softmax.json --budget 40 -j 8\n"
      "  tilejit tune examples/catalogue/softmax.json --dry-run --target sm_90a\n"
      "  tilejit tune --merge shipped.jsonl");
  command->callback([options] { tune(*options); });
}

}  // namespace tilejit::cli
