#include "tilejit/explain.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/bench_axes.hpp"
#include "common/command.hpp"
#include "common/options.hpp"
#include "common/sentence.hpp"
#include "common/spec_file.hpp"
#include "kernels/device_problem.hpp"
#include "tilejit/error.hpp"

namespace tilejit::cli {
namespace {

using nlohmann::ordered_json;

struct ExplainOptions {
  std::string spec, kernel, target;
  std::vector<std::string> dims;
  bool measure = false, json = false, no_tuning = false;
  bool allow_source = false;
};

/// Everything known about a kernel, beyond its plan.
struct Known {
  Operation op;  ///< with the tuning file's knobs, and symbols' values as examples
  Target target;
  std::optional<KernelResources> resources;
  std::string not_compiled;          ///< why there are no resources
  std::optional<KernelInfo> loaded;  ///< as the driver loaded it
  std::optional<BenchmarkResult> measured;
};

/// A device, if there is one and no target was asked for.
std::unique_ptr<Runtime> find_device(const ExplainOptions& options) {
  if (!options.target.empty()) return nullptr;
  try {
    return std::make_unique<Runtime>(options_from_env(options.no_tuning));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::no_driver && error.code() != ErrorCode::no_device) throw;
    if (options.measure) throw Failure("--measure needs a GPU: " + sentence(error));
    return nullptr;
  }
}

Known explain_on_device(Runtime& runtime, const Operation& op, bool measure) {
  const DeviceInfo& device = runtime.device();
  const Kernel kernel = runtime.compile(op);
  Known known{.op = runtime.compiler().tuned(op, device.target, device.name),
              .target = device.target,
              .resources = resources_of(kernel.artifact()),
              .not_compiled = {},
              .loaded = kernel.info(),
              .measured = {}};
  if (measure) {
    runtime.make_current();
    const Problem problem = make_problem(op, resolve_access(op), {});
    const Workspaces workspaces = make_workspaces(runtime, problem);
    known.measured = benchmark(runtime, kernel, workspaces.arguments(), problem.symbols);
  }
  return known;
}

Known explain_without(Compiler& compiler, const Operation& op, const Target& target) {
  Known known{.op = compiler.tuned(op, target),
              .target = target,
              .resources = {},
              .not_compiled = {},
              .loaded = {},
              .measured = {}};
  try {
    known.resources = resources_of(compiler.compile(op, target));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::no_compiler) throw;
    known.not_compiled = sentence(error);
  }
  return known;
}

std::string text_of(const Known& known) {
  std::string text = explain_plan(known.op, known.target, known.resources);
  if (!known.not_compiled.empty()) text += "  compiler   " + known.not_compiled + '\n';
  if (known.loaded) {
    text += fmt::format(
        "  driver     {} registers, {} bytes of local and {} of shared memory, {} blocks of {} "
        "threads on a multiprocessor\n",
        known.loaded->registers, known.loaded->local_bytes, known.loaded->shared_bytes,
        known.loaded->blocks_per_sm, known.loaded->threads);
  }
  if (known.measured) {
    text += fmt::format("  measured   {:.2f} us, {:.0f} GB/s, {:.1f} % of a copy\n",
                        known.measured->time.median_ms * 1e3,
                        known.measured->gigabytes_per_second(), known.measured->percent_of_copy());
  }
  return text;
}

ordered_json json_of(const Known& known) {
  auto json = ordered_json::parse(explain_plan_json(known.op, known.target, known.resources));
  json["name"] = known.op.name();
  if (!known.not_compiled.empty()) json["not_compiled"] = known.not_compiled;
  if (known.loaded) {
    json["driver"] = {{"registers", known.loaded->registers},
                      {"local_bytes", known.loaded->local_bytes},
                      {"shared_bytes", known.loaded->shared_bytes},
                      {"threads", known.loaded->threads},
                      {"blocks_per_sm", known.loaded->blocks_per_sm}};
  }
  if (known.measured) {
    json["measured"] = {{"median_ms", known.measured->time.median_ms},
                        {"gigabytes_per_second", known.measured->gigabytes_per_second()},
                        {"percent_of_copy", known.measured->percent_of_copy()}};
  }
  return json;
}

void explain(const ExplainOptions& options) {
  if (options.measure && !options.target.empty()) {
    throw UsageError("--measure is of a device, which has its own target; leave out --target");
  }
  const std::vector<Operation> ops =
      select_kernels(load_specs(options.spec, options.allow_source), options.kernel);
  const Assignments dims = parse_assignments(options.dims, "--dims");
  check_names(dims, ops, Named::symbol);
  const std::unique_ptr<Runtime> runtime = find_device(options);
  const Target target = options.target.empty() ? Target{} : parse_target(options.target);
  Compiler compiler(options_from_env(options.no_tuning));
  auto kernels = ordered_json::array();
  for (const Operation& spec : ops) {
    const Operation op = at_dims(spec, dims);
    const Known known = runtime ? explain_on_device(*runtime, op, options.measure)
                                : explain_without(compiler, op, target);
    if (options.json) {
      kernels.push_back(json_of(known));
    } else {
      fmt::print("{}{}", &spec == &ops.front() ? "" : "\n", text_of(known));
    }
  }
  if (options.json) {
    const ordered_json document = {{"kernels", std::move(kernels)}};
    fmt::print("{}\n", document.dump(2, ' ', false, ordered_json::error_handler_t::replace));
  }
}

}  // namespace

void add_explain(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "explain", "Say in words how a kernel is planned, why, and what limits it");
  auto options = std::make_shared<ExplainOptions>();
  add_spec(*command, options->spec);
  add_kernel(*command, options->kernel);
  add_dims(*command, options->dims);
  add_target(*command, options->target);
  command->add_flag("--measure", options->measure, "Time it too; needs a GPU");
  add_allow_source(*command, options->allow_source);
  add_no_tuning(*command, options->no_tuning);
  add_json(*command, options->json, "explain");
  command->footer(
      "Needs no GPU, and knows registers where NVRTC is installed or the kernel cached. Examples:\n"
      "  tilejit explain examples/catalogue/softmax.json\n"
      "  tilejit explain examples/specs/symbolic.json --dims M=4096,N=1000 --target sm_80\n"
      "  tilejit explain bench/specs/add_f16.json --json");
  command->callback([options] { explain(*options); });
}

}  // namespace tilejit::cli
