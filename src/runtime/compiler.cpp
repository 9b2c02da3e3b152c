#include "tilejit/compiler.hpp"

#include <nlohmann/json.hpp>

#include "figures/figures.hpp"
#include "render/render.hpp"
#include "runtime/compiler_impl.hpp"

namespace tilejit {

std::string render_plan(const Fused& op, const Target& target) {
  const plan::Plan plan = runtime::make_planned(op, target).plan;
  const figures::Figures figures = figures::figures_of(op, plan, figures::examples_of(op));
  auto json = nlohmann::ordered_json::parse(plan::to_json(plan));
  json["figures"] = nlohmann::ordered_json::parse(figures::to_json(figures, plan));
  return json.dump(2);
}

std::string describe_plan(const Fused& op, const Target& target) {
  const plan::Plan plan = runtime::make_planned(op, target).plan;
  return figures::to_text(figures::figures_of(op, plan, figures::examples_of(op)), plan);
}

std::string render_source(const Fused& op, const Target& target) {
  return render::flatten(render::render(runtime::make_planned(op, target).plan));
}

std::string render_header(const Fused& op, const Target& target) {
  return render::render_header(runtime::make_planned(op, target).plan);
}

std::string_view to_string(CacheTier tier) noexcept {
  switch (tier) {
    case CacheTier::memory: return "memory";
    case CacheTier::disk: return "disk";
    case CacheTier::compiled: return "compiled";
  }
  return "unknown";
}

Compiler::Compiler(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}

Compiler::~Compiler() = default;
Compiler::Compiler(Compiler&&) noexcept = default;
Compiler& Compiler::operator=(Compiler&&) noexcept = default;

Artifact Compiler::compile(const Fused& op, const Target& target) {
  return impl_->compile(impl_->plan(op, target, {}));
}

Fused Compiler::tuned(const Fused& op, const Target& target, std::string_view device) {
  Fused result = op;
  const auto tuned = impl_->find_tuned(op, runtime::make_planned(op, target), device);
  if (tuned) result.tuning = tuned->tuning;
  return result;
}

Listing Compiler::listing(const Fused& op, const Target& target) {
  compile::Request request = runtime::make_request(impl_->plan(op, target, {}).plan);
  request.want_ptx = true;
  compile::Compiled compiled = impl_->nvrtc().compile(request);
  return {.cubin = std::move(compiled.cubin),
          .ptx = std::move(compiled.ptx),
          .log = std::move(compiled.log)};
}

NvrtcInfo Compiler::nvrtc() {
  const compile::Nvrtc& nvrtc = impl_->nvrtc();
  return {.path = nvrtc.id().path.string(),
          .version = nvrtc.version(),
          .build = nvrtc.id().build,
          .supported = nvrtc.supported_architectures()};
}

const Options& Compiler::options() const noexcept {
  return impl_->options;
}

}  // namespace tilejit
