#include "tilejit/compiler.hpp"

#include <optional>
#include <utility>

#include "core/json_line.hpp"
#include "front/compiler_impl.hpp"
#include "tilejit/light.hpp"

namespace tilejit {

namespace {

/// The plan that the library would have made if the caller had not given a thread-value layout.
std::optional<operation::Plan> plan_without_tv(const Operation& op, const Target& target) {
  if (!op.tuning().tv) return std::nullopt;
  return op.with_tuning({}).descriptor().plan(target);
}

}  // namespace

std::string render_plan(const Operation& op, const Target& target) {
  const SymbolValues symbols = front::examples_of(op);
  const operation::Plan plan = op.descriptor().plan(target);
  std::string json = plan.body->json();
  json.pop_back();  // another member follows
  json += ",\"figures\":" + plan.body->figures_json(symbols);
  if (const auto own = plan_without_tv(op, target)) {
    core::JsonLine without;
    without.open('{').member("template", own->body->family());
    without.key("figures").raw(own->body->figures_json(symbols)).close('}');
    json += ",\"without_tv\":" + without.take();
  }
  return core::indented(json + '}');
}

std::string describe_plan(const Operation& op, const Target& target) {
  const SymbolValues symbols = front::examples_of(op);
  std::string text = op.descriptor().plan(target).body->text(symbols);
  if (const auto own = plan_without_tv(op, target)) {
    text += "without tv:\n" + own->body->text(symbols);
  }
  return text;
}

std::string render_source(const Operation& op, const Target& target) {
  return operation::flatten(op.descriptor().plan(target).body->source());
}

std::optional<std::string> render_light_source(const Operation& op, const Target& target) {
  const auto light = op.descriptor().light_plan(op.descriptor().plan(target));
  if (!light) return std::nullopt;
  return operation::flatten(light->body->source());
}

std::string render_header(const Operation& op, const Target& target) {
  return op.descriptor().plan(target).body->header();
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

Artifact Compiler::compile(const Operation& op, const Target& target, std::string_view device) {
  return front::watch(impl_->requests, op, target, [&] {
    return impl_->compile(impl_->plan(op, target, device), {.effort = impl_->effort()});
  });
}

Operation Compiler::tuned(const Operation& op, const Target& target, std::string_view device) {
  const auto tuned = impl_->find_tuned(op, front::make_planned(op, target), device);
  return tuned ? op.with_tuning(tuned->tuning) : op;
}

std::vector<std::string> Compiler::tuned_devices(const Target& target) const {
  return impl_->tuning_file().devices(target);
}

Listing Compiler::listing(const Operation& op, const Target& target) {
  const front::Planned planned = impl_->plan(op, target, {});
  compile::Request request = front::make_request(planned.plan, impl_->effort());
  request.want_ptx = true;
  if (impl_->options.line_info) front::add_line_info(request, request.source.name);
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

KeyExplanation Compiler::explain(const Operation& op, const Target& target,
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
