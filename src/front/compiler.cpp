#include "tilejit/compiler.hpp"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "figures/figures.hpp"
#include "front/compiler_impl.hpp"
#include "render/render.hpp"
#include "tilejit/light.hpp"

namespace tilejit {

namespace {

struct PlanWithFigures {
  plan::Plan plan;
  figures::Figures figures;
};

PlanWithFigures plan_with_figures(const Fused& op, const Target& target) {
  plan::Plan plan = front::make_planned(op, target).plan;
  figures::Figures figures = figures::figures_of(op, plan, figures::examples_of(op));
  return {std::move(plan), std::move(figures)};
}

/// What the library would have planned where the caller gave a thread-value layout.
std::optional<PlanWithFigures> plan_without_tv(const Fused& op, const Target& target) {
  if (!op.tuning.tv) return std::nullopt;
  Fused own = op;
  own.tuning = {};
  return plan_with_figures(own, target);
}

}  // namespace

std::string render_plan(const Fused& op, const Target& target) {
  const auto parse = [](const std::string& text) { return nlohmann::ordered_json::parse(text); };
  const auto [plan, figures] = plan_with_figures(op, target);
  auto json = parse(plan::to_json(plan));
  json["figures"] = parse(figures::to_json(figures, plan));
  if (const auto own = plan_without_tv(op, target)) {
    json["without_tv"] = {{"template", plan::template_name(own->plan)},
                          {"figures", parse(figures::to_json(own->figures, own->plan))}};
  }
  return json.dump(2);
}

std::string describe_plan(const Fused& op, const Target& target) {
  const auto [plan, figures] = plan_with_figures(op, target);
  std::string text = figures::to_text(figures, plan);
  if (const auto own = plan_without_tv(op, target)) {
    text += "without tv:\n" + figures::to_text(own->figures, own->plan);
  }
  return text;
}

std::string render_source(const Fused& op, const Target& target) {
  return render::flatten(render::render(front::make_planned(op, target).plan));
}

std::optional<std::string> render_light_source(const Fused& op, const Target& target) {
  const front::Planned planned = front::make_planned(op, target);
  const auto light = plan::make_light_plan(op, planned.analysis, planned.plan);
  if (!light) return std::nullopt;
  return render::flatten(render::render(*light));
}

std::string render_header(const Fused& op, const Target& target) {
  return render::render_header(front::make_planned(op, target).plan);
}

std::string_view to_string(CacheTier tier) noexcept {
  switch (tier) {
    case CacheTier::memory: return "memory";
    case CacheTier::disk: return "disk";
    case CacheTier::read_only: return "read-only";
    case CacheTier::remote: return "remote";
    case CacheTier::compiled: return "compiled";
  }
  return "unknown";
}

Compiler::Compiler(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}

Compiler::~Compiler() = default;
Compiler::Compiler(Compiler&&) noexcept = default;
Compiler& Compiler::operator=(Compiler&&) noexcept = default;

Artifact Compiler::compile(const Fused& op, const Target& target, std::string_view device) {
  return front::watch(impl_->requests, op, target, [&] {
    return impl_->compile(impl_->plan(op, target, device), {.effort = impl_->effort()});
  });
}

Fused Compiler::tuned(const Fused& op, const Target& target, std::string_view device) {
  Fused result = op;
  const auto tuned = impl_->find_tuned(op, front::make_planned(op, target), device);
  if (tuned) result.tuning = tuned->tuning;
  return result;
}

std::vector<std::string> Compiler::tuned_devices(const Target& target) const {
  return impl_->tuning_file().devices(target);
}

Listing Compiler::listing(const Fused& op, const Target& target) {
  const front::Planned planned = impl_->plan(op, target, {});
  compile::Request request = front::make_request(planned.plan, impl_->effort());
  request.want_ptx = true;
  if (impl_->options.line_info) front::add_line_info(request, planned.plan, request.source.name);
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

KeyExplanation Compiler::explain(const Fused& op, const Target& target,
                                 std::string_view device) const {
  return impl_->explain(impl_->plan(op, target, device), impl_->effort());
}

void Compiler::seal() noexcept {
  impl_->requests.seal();
}

bool Compiler::sealed() const noexcept {
  return impl_->requests.sealed();
}

Metrics Compiler::metrics() const {
  return impl_->requests.metrics();
}

cache::Store& Compiler::cache() const noexcept {
  return impl_->store;
}

const Options& Compiler::options() const noexcept {
  return impl_->options;
}

}  // namespace tilejit
