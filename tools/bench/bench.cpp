#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "bench/bench_compare.hpp"
#include "bench/bench_plot.hpp"
#include "common/command.hpp"
#include "common/files.hpp"
#include "common/options.hpp"
#include "common/progress.hpp"
#include "common/sentence.hpp"
#include "common/spec_file.hpp"
#include "kernels/device_problem.hpp"
#include "tilejit/error.hpp"

namespace tilejit::cli {
namespace {

constexpr std::uintmax_t kLargestRun = 256u << 20;  // bytes of an earlier run

struct BenchOptions {
  std::vector<std::string> specs, axes, dims, scalars;
  std::string kernel, load, compare, csv, plot;
  std::optional<double> fail_above;
  double error_percent = 0.5;
  double max_ms = 1000;
  int warmup = 5;
  int device = -1;
  std::uint64_t seed = 1;
  bool graph = false, cold = false, warm = false, json = false, no_tuning = false;
  bool allow_source = false;
};

BenchmarkOptions sampling_of(const BenchOptions& options) {
  BenchmarkOptions sampling{.timed_in = options.graph ? TimedIn::graph : TimedIn::stream,
                            .l2 = options.warm ? L2State::warm : L2State::cold,
                            .warmup = options.warmup,
                            .relative_error = options.error_percent / 100};
  sampling.max_ms = options.max_ms;
  sampling.min_ms = std::min(sampling.min_ms, options.max_ms);
  return sampling;
}

/// An operation at a point of its axes.
struct Case {
  Operation op;
  Point point;
};

std::vector<Case> cases_of(const BenchOptions& options) {
  const std::vector<Axis> axes = parse_axes(options.axes);
  std::vector<Operation> ops;
  for (const std::string& spec : options.specs) {
    for (Operation& op : select_kernels(load_specs(spec, options.allow_source), options.kernel))
      ops.push_back(std::move(op));
  }
  check_axes(ops, axes);
  const Assignments dims = parse_assignments(options.dims, "--dims");
  check_names(dims, ops, Named::symbol);
  for (const Axis& axis : axes) {
    if (!dims.contains(axis.name)) continue;
    throw UsageError(fmt::format("{} is given by --axis and by --dims; give it once", axis.name));
  }
  std::vector<Case> cases;
  for (const Operation& spec : ops) {
    const Operation op = at_dims(spec, dims);
    for (Point& point : points_of(axes_of(op, axes))) {
      Operation changed = at_point(op, point);
      validate(changed);  // before anything is measured
      (void)bind_symbols(changed, {}, {});
      cases.push_back({std::move(changed), std::move(point)});
    }
  }
  return cases;
}

Runtime open_runtime(const BenchOptions& options) {
  Options settings = options_from_env(options.no_tuning);
  if (options.device >= 0) settings.device = options.device;
  try {
    return Runtime(std::move(settings));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::no_driver && error.code() != ErrorCode::no_device) throw;
    throw Failure("benchmarks measure on a GPU: " + sentence(error) +
                  "; --load shows, plots and compares an earlier run without one");
  }
}

/// Measures one case after the other, the ceilings once for each number of bytes, and the peaks
/// once for each pair of types that is multiplied.
class Bench {
 public:
  Bench(Runtime& runtime, const BenchmarkOptions& sampling, const Inputs& inputs)
      : runtime_(runtime), sampling_(sampling), inputs_(inputs) {
    runtime_.make_current();
  }

  [[nodiscard]] BenchRow measure(const Case& one) {
    const Problem problem = make_problem(one.op, resolve_access(one.op), inputs_);
    const Kernel kernel = runtime_.compile(problem.op);
    const Workspaces workspaces = make_workspaces(runtime_, problem, sampling_.l2);
    const DeclaredWork work = declared_work(problem.op, problem.symbols);
    if (!ceilings_.contains(work.bytes)) {
      ceilings_[work.bytes] = measure_ceilings(runtime_, work.bytes, sampling_);
    }
    Ceilings ceilings = ceilings_[work.bytes];
    if (work.matrices) ceilings.multiply = peak_of(*work.matrices);
    return {.kernel = one.op.name(),
            .point = one.point,
            .result = benchmark(runtime_, kernel, workspaces.arguments(), problem.symbols,
                                sampling_, ceilings),
            .workspaces = workspaces.arguments().size(),
            .cold = workspaces.are_cold()};
  }

 private:
  double peak_of(const MatrixTypes& types) {
    const auto found = peaks_.find(types);
    if (found != peaks_.end()) return found->second;
    return peaks_[types] = measure_peak(runtime_, types, sampling_);
  }

  Runtime& runtime_;
  const BenchmarkOptions& sampling_;
  const Inputs& inputs_;
  std::map<std::int64_t, Ceilings> ceilings_;
  std::map<MatrixTypes, double> peaks_;
};

BenchRun measure(const BenchOptions& options) {
  const std::vector<Case> cases = cases_of(options);
  std::vector<Operation> ops;
  for (const Case& one : cases) ops.push_back(one.op);
  const Inputs inputs{.dims = {},
                      .scalars = parse_assignments(options.scalars, "--scalars"),
                      .arrays = {},
                      .seed = options.seed};
  check_names(inputs.scalars, ops, Named::scalar);
  Runtime runtime = open_runtime(options);
  const BenchmarkOptions sampling = sampling_of(options);
  BenchRun run{.device = runtime.device().name,
               .target = to_string(runtime.device().target),
               .timed_in = sampling.timed_in,
               .l2 = sampling.l2,
               .rows = {}};
  Bench bench(runtime, sampling, inputs);
  Progress progress(false);
  for (const Case& one : cases) {
    progress.show({.done = run.rows.size(),
                   .failed = 0,
                   .total = cases.size(),
                   .now = one.op.name() + ' ' + to_string(one.point)});
    run.rows.push_back(bench.measure(one));
  }
  return run;
}

BenchRun load(const std::string& path) {
  return read_bench(read_file(path, kLargestRun), path == "-" ? "standard input" : path);
}

void check_options(const BenchOptions& options) {
  if (options.specs.empty() == options.load.empty()) {
    throw UsageError("SPEC is required, or --load for an earlier run, and not both");
  }
  if (!options.load.empty() && !options.axes.empty()) {
    throw UsageError("--axis goes with SPEC; an earlier run has its own axes");
  }
  if (options.fail_above && options.compare.empty()) {
    throw UsageError("--fail-above goes with --compare");
  }
  const int on_stdout =
      (options.json ? 1 : 0) + (options.csv == "-" ? 1 : 0) + (options.plot == "-" ? 1 : 0);
  if (on_stdout > 1) {
    throw UsageError("only one of --json, --csv - and --plot - can go to standard output");
  }
}

void write(const BenchOptions& options, const BenchRun& run, const std::vector<Change>& changes,
           const std::optional<BenchRun>& before) {
  // The plot goes first, since it fails if there is no axis for it.
  if (!options.plot.empty()) write_file(options.plot, plot_svg(bench_plot(run)));
  if (!options.csv.empty()) write_file(options.csv, bench_csv(run));
  if (options.json) {
    fmt::print("{}", bench_json(run));
  } else if (options.csv != "-" && options.plot != "-") {
    fmt::print("{}", bench_table(run));
    if (before) fmt::print("\n{}", compare_text(changes, run, *before));
  }
}

void bench(const BenchOptions& options) {
  check_options(options);
  std::optional<BenchRun> before;  // read first: a wrong path is found before minutes have passed
  if (!options.compare.empty()) before = load(options.compare);
  const BenchRun run = options.load.empty() ? measure(options) : load(options.load);
  std::vector<Change> changes;
  if (before) changes = compare(run, *before);
  write(options, run, changes, before);
  if (!options.fail_above) return;
  const std::vector<Change> worse = regressions(changes, *options.fail_above);
  if (worse.empty()) return;
  const Change& first = worse.front();
  const std::string at = first.point.empty() ? "" : " at " + to_string(first.point);
  throw Failure(fmt::format("slower by more than {} %: {} of {} rows; first {}{} by {:.2f} %",
                            *options.fail_above, worse.size(), changes.size(), first.kernel, at,
                            first.percent()));
}

void add_sampling_options(CLI::App& command, BenchOptions& options) {
  command.add_flag("--graph", options.graph,
                   "Time launches in a graph, behind each other, instead of one by one");
  CLI::Option* cold = command.add_flag("--cold", options.cold,
                                       "Nothing of a launch's tensors is in the L2 cache "
                                       "when it starts (the default)");
  command.add_flag("--warm", options.warm, "The L2 cache has what the launch before left there")
      ->excludes(cold);
  command
      .add_option("--error", options.error_percent,
                  "Half the median's 95 % confidence interval to reach, in % of the median")
      ->type_name("PERCENT")
      ->check(between(0.001, 50))
      ->capture_default_str();
  command.add_option("--max-time", options.max_ms, "Milliseconds of samples a row, at most")
      ->type_name("MS")
      ->check(between(0, 1e6))
      ->capture_default_str();
  command.add_option("--warmup", options.warmup, "Launches before the first sample")
      ->type_name("N")
      ->check(whole(0, 1000000))
      ->capture_default_str();
}

void add_output_options(CLI::App& command, BenchOptions& options) {
  add_json(command, options.json);
  const auto add_file = [&](const char* name, std::string& path, const char* description) {
    command.add_option(name, path, description)->type_name("FILE");
  };
  add_file("--csv", options.csv, "Table to this file, - for standard output");
  add_file("--plot", options.plot,
           "SVG picture of GB/s over the first axis to this file, - for standard output");
  add_file("--load", options.load, "An earlier run's --json instead of measuring");
  add_file("--compare", options.compare, "An earlier run's --json to compare with");
  command
      .add_option("--fail-above", options.fail_above,
                  "Exit code 1 if a row became slower by more than this many %")
      ->type_name("PERCENT")
      ->check(between(0, 1e6));
}

}  // namespace

void add_bench(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("bench", "Measure kernels over axes: table, JSON, CSV, plot, comparison");
  auto options = std::make_shared<BenchOptions>();
  command->add_option("SPEC", options->specs, "Spec files, - for standard input")
      ->type_name("FILE");
  add_kernel(*command, options->kernel);
  command
      ->add_option("--axis", options->axes,
                   "Values of a symbol, also as M=1024:65536:*4; or dtypes for all tensors of the "
                   "first one's, as dtype=f16,bf16; may be repeated")
      ->type_name("M=1024,4096")
      ->allow_extra_args(false);
  add_dims(*command, options->dims);
  add_scalars(*command, options->scalars);
  add_seed(*command, options->seed);
  add_device(*command, options->device);
  add_allow_source(*command, options->allow_source);
  add_no_tuning(*command, options->no_tuning);
  add_sampling_options(*command, *options);
  add_output_options(*command, *options);
  command->footer(
      "Examples:\n"
      "  tilejit bench bench/specs/add_f16.json\n"
      "  tilejit bench examples/specs/symbolic.json --axis M=256:65536:*4 --axis dtype=f16,f32 \\\n"
      "    --dims N=4096 --graph --plot symbolic.svg\n"
      "  tilejit bench bench/specs/rows.json --json > before.json\n"
      "  tilejit bench bench/specs/rows.json --compare before.json --fail-above 3\n"
      "  tilejit bench --load before.json --csv -");
  command->callback([options] { bench(*options); });
}

}  // namespace tilejit::cli
