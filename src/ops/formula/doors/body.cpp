#include "doors/body.hpp"

#include <utility>

#include "figures/explanation.hpp"
#include "figures/figures.hpp"
#include "figures/operations.hpp"
#include "figures/products.hpp"
#include "knobs/knobs.hpp"
#include "render/render.hpp"

namespace tilejit::ops {

FormulaBody::FormulaBody(std::shared_ptr<const formula::Analysis> analysis, Tuning pinned,
                         plan::Plan plan, std::vector<formula::Analysis> of_parts)
    : analysis_(std::move(analysis)),
      pinned_(std::move(pinned)),
      plan_(std::move(plan)),
      of_parts_(std::move(of_parts)) {}

std::string_view FormulaBody::family() const {
  return plan::template_name(plan_);
}

std::string FormulaBody::json() const {
  return plan::to_json(plan_);
}

std::string_view FormulaBody::generator() const {
  return render::generator_digest();
}

operation::Source FormulaBody::source() const {
  return render::render(plan_);
}

std::string FormulaBody::header() const {
  return render::render_header(plan_);
}

const operation::Signature& FormulaBody::signature() const {
  return plan_.signature;
}

operation::LaunchPlan FormulaBody::launch() const {
  return plan::launch_plan(plan_);
}

std::string FormulaBody::tuning_class() const {
  return knobs::class_of(plan_);
}

operation::Figures FormulaBody::figures(const SymbolValues& symbols) const {
  const figures::Figures own = figures::figures_of(plan_, symbols);
  return {.device = own.device,
          .bytes_in_flight = own.bytes_in_flight,
          .blocks = own.blocks,
          .bytes_moved = own.bytes_moved,
          .operations = figures::count_operations(plan_.signature.tensors, *analysis_, symbols),
          .matrices = figures::matrices_of(plan_)};
}

std::string FormulaBody::figures_json(const SymbolValues& symbols) const {
  return figures::to_json(figures::figures_of(plan_, symbols), plan_);
}

std::string FormulaBody::text(const SymbolValues& symbols) const {
  return figures::to_text(figures::figures_of(plan_, symbols), plan_);
}

operation::Explanation FormulaBody::explain(
    const SymbolValues& symbols, const std::optional<operation::Compiled>& compiled) const {
  return figures::explain(plan_, {.analysis = *analysis_, .of_parts = of_parts_, .pinned = pinned_},
                          symbols, compiled);
}

}  // namespace tilejit::ops
