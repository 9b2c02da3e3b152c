#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/command.hpp"
#include "common/files.hpp"
#include "common/options.hpp"
#include "common/spec_file.hpp"
#include "kernels/report.hpp"
#include "tilejit/compiler.hpp"

namespace tilejit::cli {
namespace {

struct CompileOptions {
  std::string spec, kernel, cubin, ptx;
  std::vector<std::string> targets;
  bool json = false;
  bool no_tuning = false;
  bool allow_source = false;
};

std::vector<Target> targets_of(const CompileOptions& options) {
  std::vector<Target> targets;
  for (const std::string& text : options.targets) targets.push_back(parse_target(text));
  if (targets.empty()) targets.push_back(default_target());
  return targets;
}

void check_output(const CompileOptions& options, std::size_t artifacts) {
  if (artifacts != 1 && !(options.cubin.empty() && options.ptx.empty())) {
    throw UsageError(
        "-o and --ptx take one kernel and one target; choose them with --kernel and "
        "--target");
  }
  if (options.json && (options.cubin == "-" || options.ptx == "-")) {
    throw UsageError("--json and a file on standard output exclude each other; name a file");
  }
}

void write_listing(Compiler& compiler, const Operation& op, const Target& target,
                   const std::string& path) {
  write_file(path, compiler.listing(op, target).ptx);
}

void compile(const CompileOptions& options) {
  const std::vector<Operation> ops =
      select_kernels(load_specs(options.spec, options.allow_source), options.kernel);
  const std::vector<Target> targets = targets_of(options);
  check_output(options, ops.size() * targets.size());
  const bool quiet = options.json || options.cubin == "-" || options.ptx == "-";

  Compiler compiler(options_from_env(options.no_tuning));
  auto artifacts = nlohmann::ordered_json::array();
  for (const Operation& op : ops) {
    for (const Target& target : targets) {
      const Artifact artifact = compiler.compile(op, target);
      artifacts.push_back(artifact_json(artifact));
      artifacts.back()["name"] = op.name();
      if (!quiet) fmt::print("{}\n", artifact_text(artifact));
      if (!options.cubin.empty()) write_file(options.cubin, *artifact.cubin);
      if (!options.ptx.empty()) write_listing(compiler, op, target, options.ptx);
    }
  }
  if (options.json) {
    const nlohmann::ordered_json document = {{"artifacts", std::move(artifacts)}};
    fmt::print("{}\n", json_text(document));
  }
}

}  // namespace

void add_compile(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("compile", "Compile the kernels of a spec through the cache");
  auto options = std::make_shared<CompileOptions>();
  add_spec(*command, options->spec);
  add_kernel(*command, options->kernel);
  command
      ->add_option("--target", options->targets,
                   "sm_75 to sm_120a, several by commas; default: the device's, else sm_90a")
      ->type_name("TARGET,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option("-o,--output", options->cubin,
                   "Write the cubin to a file, - for standard output")
      ->type_name("FILE");
  command->add_option("--ptx", options->ptx, "Write PTX to a file, - for standard output")
      ->type_name("FILE");
  add_allow_source(*command, options->allow_source);
  add_no_tuning(*command, options->no_tuning);
  add_json(*command, options->json, "compile");
  command->footer(
      "Needs no GPU and no driver. Examples:\n"
      "  tilejit compile examples/specs/vector_add.json -o add.cubin --ptx add.ptx\n"
      "  tilejit compile examples/specs/symbolic.json --target sm_80,sm_90a --json");
  command->callback([options] { compile(*options); });
}

}  // namespace tilejit::cli
