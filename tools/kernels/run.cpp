#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "common/command.hpp"
#include "common/files.hpp"
#include "common/options.hpp"
#include "common/spec_file.hpp"
#include "common/terminal.hpp"
#include "kernels/execute.hpp"
#include "kernels/npy.hpp"
#include "kernels/report.hpp"
#include "tilejit/print_tensor.hpp"

namespace tilejit::cli {
namespace {

constexpr std::uintmax_t kLargestArray = std::uintmax_t{1} << 40;  // bytes

struct RunOptions {
  std::vector<std::string> specs;
  std::string kernel;
  std::string device = "auto";
  std::vector<std::string> dims, scalars, in, out, print;
  std::uint64_t seed = 1;
  bool verify = false;
  bool bench = false;
  bool json = false;
  bool no_tuning = false;
  bool allow_source = false;
  bool verbose = false;
  std::optional<std::int64_t> trace;
};

struct Files {
  Assignments in, out;
};

void check_outputs(const Assignments& out) {
  for (const auto& [tensor, path] : out) {
    if (path != "-") continue;
    throw UsageError(fmt::format(
        "--out {}=- would mix the array into the report on standard output; name a file", tensor));
  }
}

Inputs read_inputs(const RunOptions& options, const std::vector<Operation>& ops,
                   const Files& files) {
  Inputs inputs{.dims = parse_assignments(options.dims, "--dims"),
                .scalars = parse_assignments(options.scalars, "--scalars"),
                .arrays = {},
                .seed = options.seed};
  check_names(inputs.dims, ops, Named::symbol);
  check_names(inputs.scalars, ops, Named::scalar);
  check_names(files.in, ops, Named::tensor);
  check_names(files.out, ops, Named::tensor);
  for (const std::string& name : options.print) check_names({{name, ""}}, ops, Named::tensor);
  if (ops.size() > 1 && !(files.in.empty() && files.out.empty())) {
    throw UsageError("--in and --out need one kernel; choose it with --kernel");
  }
  for (const auto& [tensor, path] : files.in) {
    const std::uintmax_t limit = std::min<std::uintmax_t>(kLargestArray, available_memory() / 2);
    inputs.arrays.emplace(tensor, parse_npy(read_file(path, limit), path));
  }
  return inputs;
}

// The memory that holds a tensor's final contents.
const std::byte* final_contents(const Problem& problem, const Outcome& outcome, std::size_t index) {
  if (outcome.results.empty() || problem.access[index] == Access::in) {
    return problem.tensors[index].data();
  }
  const auto written_before = std::ranges::count_if(
      std::span(problem.access).first(index), [](Access access) { return access != Access::in; });
  return outcome.results[static_cast<std::size_t>(written_before)].data();
}

void write_outputs(const Problem& problem, const Outcome& outcome, const Assignments& files) {
  for (std::size_t i = 0; i < problem.op.tensors().size(); ++i) {
    const Tensor& tensor = problem.op.tensors()[i];
    const auto file = files.find(tensor.name);
    if (file == files.end()) continue;
    const NpyArray array =
        gather(final_contents(problem, outcome, i), problem.layouts[i], tensor.dtype);
    write_file(file->second, format_npy(array.header, array.data));
  }
}

// The tensors that --print names, with their contents after the run.
std::string tensors_text(const RunOptions& options, const Problem& problem,
                         const Outcome& outcome) {
  std::string text;
  for (std::size_t i = 0; i < problem.op.tensors().size(); ++i) {
    const Tensor& tensor = problem.op.tensors()[i];
    if (std::ranges::find(options.print, tensor.name) == options.print.end()) continue;
    text += tensor.name + " = " +
            print_tensor(tensor.dtype, problem.layouts[i], final_contents(problem, outcome, i),
                         {.verbose = options.verbose});
  }
  return text;
}

void print(const RunOptions& options, const nlohmann::ordered_json& kernels) {
  const nlohmann::ordered_json document = {{"seed", options.seed}, {"kernels", kernels}};
  fmt::print("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::string preamble(const RunOptions& options, const Executor& executor) {
  const std::string& why = executor.no_gpu_reason();
  return (why.empty() ? "" : inked(Ink::yellow, "no GPU:", stdout) + ' ' + why + "\n") +
         fmt::format("inputs are random with seed {}, unless read from files\n", options.seed) +
         (options.verify && !executor.on_gpu() ? "nothing to compare: this is the CPU reference\n"
                                               : "");
}

std::vector<Operation> load_all(const std::vector<std::string>& specs, bool allow_source) {
  std::vector<Operation> ops;
  for (const std::string& spec : specs)
    std::ranges::move(load_specs(spec, allow_source), std::back_inserter(ops));
  return ops;
}

void run(const RunOptions& options) {
  const std::vector<Operation> ops =
      select_kernels(load_all(options.specs, options.allow_source), options.kernel);
  const Files files{.in = parse_assignments(options.in, "--in"),
                    .out = parse_assignments(options.out, "--out")};
  check_outputs(files.out);
  if (options.json && !options.print.empty()) {
    throw UsageError("--print would mix its text into the JSON document; use --out NAME=FILE");
  }
  const Inputs inputs = read_inputs(options, ops, files);
  Executor executor(options.device, options_from_env(options.no_tuning));
  if (options.bench && options.device == "cpu") {
    throw UsageError("--bench times a GPU; leave out --device cpu");
  }
  const Wanted wanted{
      .verify = options.verify || !options.bench, .bench = options.bench, .trace = options.trace};
  if (options.trace && options.json) {
    throw UsageError("--trace would mix its text into the JSON document; leave out one of the two");
  }
  if (!options.json) say(preamble(options, executor));

  auto kernels = nlohmann::ordered_json::array();
  bool all_right = true;
  std::string no_kernel;  // the first kernel that only the reference can compute
  for (const Operation& op : ops) {
    Problem problem = make_problem(op, resolve_access(op), inputs);
    if (!options.json) say(run_heading(problem));
    const Outcome outcome = executor.execute(problem, wanted);
    write_outputs(problem, outcome, files.out);
    all_right = all_right && (!outcome.verification || outcome.verification->passed);
    if (outcome.has_no_kernel && no_kernel.empty()) {
      no_kernel =
          op.name() + " has no kernel, only the CPU reference computes it: " + outcome.not_compiled;
    }
    kernels.push_back(run_json(problem, outcome, executor));
    if (options.json) continue;
    say(run_text(problem, outcome, executor) + tensors_text(options, problem, outcome));
  }
  if (options.json) print(options, kernels);
  if (options.bench && !executor.on_gpu()) {
    throw Failure("nothing was timed, there is no GPU: " + executor.no_gpu_reason());
  }
  if (!no_kernel.empty()) throw Failure(no_kernel);
  if (!all_right) throw Failure("the result differs from the CPU reference");
}

}  // namespace

void add_run(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("run", "Compile, launch, verify and time the kernels of specs");
  auto options = std::make_shared<RunOptions>();
  command->add_option("SPEC", options->specs, "Spec files, - for standard input")
      ->type_name("FILE")
      ->required();
  add_kernel(*command, options->kernel);
  command
      ->add_option("--device", options->device,
                   "A device's number, the CPU reference, or auto: the device of TILEJIT_DEVICE, "
                   "else the CPU")
      ->type_name("auto|cpu|N")
      ->capture_default_str();
  add_dims(*command, options->dims);
  add_scalars(*command, options->scalars);
  command->add_option("--in", options->in, "Input from a NumPy file; may be repeated")
      ->type_name("x=x.npy")
      ->allow_extra_args(false);
  command->add_option("--out", options->out, "Tensor to a NumPy file; may be repeated")
      ->type_name("y=y.npy")
      ->allow_extra_args(false);
  command
      ->add_option("--print", options->print,
                   "Tensor to print after the run, in CuTe's form; may be repeated")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command->add_flag("--verbose", options->verbose,
                    "With --print: every element on a line of its own, with its coordinate");
  add_seed(*command, options->seed);
  command->add_flag("--verify", options->verify,
                    "Compare with the CPU reference (the default without --bench)");
  command
      ->add_option("--trace", options->trace,
                   "Of a tile program on the CPU: print what each statement of this block makes")
      ->type_name("BLOCK");
  command->add_flag("--bench", options->bench, "Time the kernel against a device-to-device copy");
  add_allow_source(*command, options->allow_source);
  add_no_tuning(*command, options->no_tuning);
  add_json(*command, options->json, "run");
  command->footer(
      "Examples:\n"
      "  tilejit run examples/specs/vector_add.json\n"
      "  tilejit run examples/specs/symbolic.json --dims M=33,N=64 --device cpu\n"
      "  tilejit run examples/specs/gelu_scale.json --in x=x.npy --out y=y.npy\n"
      "  tilejit run examples/specs/bias_broadcast.json --print y\n"
      "  tilejit run bench/specs/add_f16.json --bench --json");
  command->callback([options] { run(*options); });
}

}  // namespace tilejit::cli
