#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "common/command.hpp"
#include "common/files.hpp"
#include "common/options.hpp"
#include "common/spec_file.hpp"
#include "tilejit/compiler.hpp"
#include "tilejit/error.hpp"
#include "tilejit/light.hpp"

namespace tilejit::cli {
namespace {

struct RenderOptions {
  std::string spec, kernel, target;
  std::string output = "-";
  bool plan = false;
  bool text = false;
  bool no_tuning = false;
  bool allow_source = false;
  bool header = false;
  bool light = false;
};

std::string light_source(const Operation& op, const Target& target) {
  if (auto source = render_light_source(op, target)) return *std::move(source);
  throw Error(
      ErrorCode::unsupported,
      "'" + op.name() + "' has no light plan: its own is compiled as soon; leave --light out");
}

void render(const RenderOptions& options) {
  Operation op =
      only_kernel(select_kernels(load_specs(options.spec, options.allow_source), options.kernel));
  const Target target = options.target.empty() ? default_target() : parse_target(options.target);
  op = Compiler(options_from_env(options.no_tuning)).tuned(op, target);
  std::string text = options.text     ? describe_plan(op, target)
                     : options.plan   ? render_plan(op, target)
                     : options.header ? render_header(op, target)
                     : options.light  ? light_source(op, target)
                                      : render_source(op, target);
  if (!text.ends_with('\n')) text += '\n';
  write_file(options.output, text);
}

}  // namespace

void add_render(CLI::App& app) {
  CLI::App* command = app.add_subcommand("render", "Print the CUDA source or the plan of a kernel");
  auto options = std::make_shared<RenderOptions>();
  add_spec(*command, options->spec);
  add_kernel(*command, options->kernel);
  CLI::Option* plan = command->add_flag("--plan", options->plan, "The plan, as JSON");
  command->add_flag("--text", options->text, "With --plan: a few lines for people")->needs(plan);
  command->add_flag("--header", options->header, "Only the generated header, plan.cuh")
      ->excludes(plan);
  command
      ->add_flag("--light", options->light,
                 "The source that is launched first under TILEJIT_COMPILE_EFFORT=tiered")
      ->excludes("--plan")
      ->excludes("--header");
  add_target(*command, options->target);
  add_allow_source(*command, options->allow_source);
  add_no_tuning(*command, options->no_tuning);
  command->add_option("-o,--output", options->output, "File, - for standard output")
      ->type_name("FILE")
      ->capture_default_str();
  command->footer(
      "Needs no GPU, no driver and no NVRTC. Examples:\n"
      "  tilejit render examples/specs/vector_add.json\n"
      "  tilejit render examples/specs/symbolic.json --plan --target sm_80\n"
      "  tilejit render examples/catalogue/softmax.json --plan --text");
  command->callback([options] { render(*options); });
}

}  // namespace tilejit::cli
