#include "doors/descriptor.hpp"

#include <algorithm>
#include <utility>

#include "core/text.hpp"
#include "doors/body.hpp"
#include "expr/parser.hpp"
#include "formula/json.hpp"
#include "knobs/knobs.hpp"
#include "operation/hasher.hpp"
#include "reference/reference.hpp"
#include "tilejit/error.hpp"

namespace tilejit::ops {
namespace {

using formula::Analysis;

/// The parts that only fused operations have, in the order of kOwnParts.
enum class Part : std::uint8_t { functions, formula, axis };
constexpr const char* kOwnParts[] = {"/functions", "/formula", "/axis"};

operation::Plan wrap(std::shared_ptr<const Analysis> analysis, const Tuning& pinned,
                     plan::Plan plan, std::vector<Analysis> of_parts = {}) {
  operation::Plan result{.kernel_name = plan.kernel_name,
                         .target = plan.target,
                         .light = plan::is_light(plan),
                         .body = {}};
  result.body = std::make_shared<const FormulaBody>(std::move(analysis), pinned, std::move(plan),
                                                    std::move(of_parts));
  return result;
}

/// The plan of `op` with the knobs that `op` pins.
operation::Plan make_plan(const Fused& op, std::shared_ptr<const Analysis> analysis,
                          const Target& target) {
  std::vector<Analysis> of_parts;
  plan::Plan plan = plan::make_plan(op, *analysis, target, &of_parts);
  return wrap(std::move(analysis), op.tuning, std::move(plan), std::move(of_parts));
}

const FormulaBody& body_of(const operation::Plan& plan) noexcept {
  return static_cast<const FormulaBody&>(*plan.body);
}

}  // namespace

std::span<const char* const> FormulaDescriptor::own_parts() const noexcept {
  return kOwnParts;
}

std::uint64_t FormulaDescriptor::hash_of_part(std::size_t part) const noexcept {
  operation::Hasher hasher;
  switch (static_cast<Part>(part)) {
    case Part::functions:
      for (const Function& function : value().functions) {
        hasher.add(function.name).add(function.expr);
        for (const std::string& arg : function.args) hasher.add(arg);
      }
      break;
    case Part::formula: hasher.add(value().formula); break;
    case Part::axis:
      for (const int axis : value().axis) hasher.add(static_cast<std::uint64_t>(axis));
      break;
  }
  return hasher.hash();
}

std::string FormulaDescriptor::text_of_part(std::size_t part) const {
  std::string text;
  const auto add = [&](const std::string& item) { text += (text.empty() ? "" : ", ") + item; };
  switch (static_cast<Part>(part)) {
    case Part::functions:
      for (const Function& function : value().functions) add(function.name + ": " + function.expr);
      break;
    case Part::formula: return core::shortened(value().formula);
    case Part::axis:
      for (const int axis : value().axis) add(std::to_string(axis));
      break;
  }
  return text.empty() ? "none" : core::shortened(text);
}

bool FormulaDescriptor::same_own_parts(const operation::Descriptor& other) const {
  const auto* const same = dynamic_cast<const FormulaDescriptor*>(&other);
  return same != nullptr && same->value().formula == value().formula &&
         same->value().functions == value().functions && same->value().axis == value().axis;
}

std::string FormulaDescriptor::json() const {
  return formula::to_json(value());
}

std::shared_ptr<const Analysis> FormulaDescriptor::analysis() const {
  const std::lock_guard lock(mutex_);
  if (!analysis_) analysis_ = std::make_shared<const Analysis>(formula::analyze(value()));
  return analysis_;
}

std::vector<Access> FormulaDescriptor::access() const {
  return analysis()->access;
}

std::vector<std::size_t> FormulaDescriptor::outputs() const {
  const expr::ParsedText parsed = expr::parse_statements({value().formula, "formula", "/formula"});
  std::vector<std::size_t> outputs;
  for (std::size_t t = 0; t < tensors().size(); ++t) {
    const bool written = std::ranges::find(parsed.statements, tensors()[t].name,
                                           &expr::Statement::name) != parsed.statements.end();
    if (written && tensors()[t].access != Access::inout) outputs.push_back(t);
  }
  return outputs;
}

operation::Plan FormulaDescriptor::plan(const Target& target) const {
  return make_plan(value(), analysis(), target);
}

operation::Plan FormulaDescriptor::plan_with(const Tuning& tuning,
                                             const operation::Plan& plan) const {
  Fused tuned = value();
  tuned.tuning = tuning;
  return make_plan(tuned, analysis(), plan.target);
}

std::optional<operation::Plan> FormulaDescriptor::light_plan(const operation::Plan& full) const {
  auto analysis = this->analysis();
  auto light = plan::make_light_plan(value(), *analysis, body_of(full).plan());
  if (!light) return std::nullopt;
  return wrap(std::move(analysis), {}, *std::move(light));
}

std::vector<Tuning> FormulaDescriptor::tuning_candidates(const Target& target,
                                                         std::size_t budget) const {
  return knobs::candidates(value(), *analysis(), target, budget);
}

void FormulaDescriptor::evaluate(const HostArguments& args) const {
  reference::evaluate(value(), *analysis(), args);
}

Verification FormulaDescriptor::verify(const HostArguments& inputs,
                                       std::span<const void* const> actual,
                                       const VerifyOptions& options) const {
  return reference::verify(value(), *analysis(), inputs, actual, options);
}

}  // namespace tilejit::ops

namespace tilejit {

Operation::Operation(Fused op)
    : Operation(std::make_shared<const ops::FormulaDescriptor>(std::move(op))) {}

const Fused* Operation::fused() const noexcept {
  const auto* const fused = dynamic_cast<const ops::FormulaDescriptor*>(descriptor_.get());
  return fused == nullptr ? nullptr : &fused->value();
}

Fused parse_fused(std::string_view json) {
  const Operation op = parse_operation(json);
  if (const Fused* const fused = op.fused()) return *fused;
  throw Error(ErrorCode::invalid_spec,
              "the descriptor is no fused operation; use \"op\": \"fused\"", "/op");
}

}  // namespace tilejit
