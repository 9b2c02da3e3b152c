// Plans of operations whose analysis has steps: a product each, or a formula in one space.
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "formula/product.hpp"
#include "matmul/product_plan.hpp"
#include "plan/pairs.hpp"
#include "plan/params.hpp"
#include "plan/parts.hpp"
#include "plan/prologues.hpp"
#include "plan/statistics.hpp"

namespace tilejit::plan {
namespace {

/// The interface that a launch sees. The tensors have no space in common: each is one mode of its
/// own elements.
Plan outline(const Fused& op, const formula::Analysis& analysis, const Target& target) {
  Plan plan;
  const auto leader = static_cast<std::size_t>(analysis.program.stores.front().tensor);
  plan.kernel_name = kernel_name_of(op, leader);
  plan.target = target;
  plan.signature = signature_of(op, analysis);
  plan.program = analysis.program;
  plan.extents = {1};
  for (std::size_t t = 0; t < op.tensors.size(); ++t) {
    const auto leaves = op.tensors[t].layout.leaves();
    plan.operands.push_back({.tensor = static_cast<int>(t),
                             .dtype = op.tensors[t].dtype,
                             .read = analysis.access[t] != Access::out,
                             .written = analysis.access[t] != Access::in,
                             .reach = Reach::strided,
                             .access_bytes = size_bytes(op.tensors[t].dtype),
                             .modes = {{leaves.begin(), leaves.end()}}});
  }
  plan.params = params_of_outline(op, analysis, plan);
  plan.params_bytes = operation::struct_bytes(plan.params);
  return plan;
}

/// Adds the plans of steps to those of an operation.
class PartList {
 public:
  PartList(const formula::Analysis& analysis, std::span<const formula::Step> steps, Plan& plan,
           std::vector<formula::Analysis>* of_parts)
      : plan_(plan), several_(plan.family.emplace<Several>()), of_parts_(of_parts) {
    several_.apart = true;
    auto number = static_cast<int>(plan.operands.size());
    for (const formula::StepResult& result : analysis.results) {
      Dim elements = 1;
      for (const Dim& extent : result.shape) elements = elements * extent;
      if (!is_used(steps, number++)) elements = 0;  // by a step that became a part of another one
      several_.temporaries.push_back({.dtype = result.dtype, .elements = elements});
    }
  }

  void add(const formula::Step& step, const Tuning& tuning) {
    Fused op = step.op;
    op.tuning = tuning;
    if (formula::has_product(step.analysis.program)) {
      add(plan_product(op, step.analysis, plan_.target), step.tensors, step.analysis);
      return;
    }
    std::vector<formula::Analysis> parts;
    add(make_plan(op, step.analysis, plan_.target, &parts), step, parts);
  }

  /// The light plan if there is one, else the full one. Returns false if nothing is as light.
  [[nodiscard]] bool add_light(const formula::Step& step) {
    if (formula::has_product(step.analysis.program)) {
      auto light = plan_light_product(step.op, step.analysis, plan_.target);
      if (light) add(*std::move(light), step.tensors, step.analysis);
      return light.has_value();
    }
    std::vector<formula::Analysis> parts;
    Plan full = make_plan(step.op, step.analysis, plan_.target, &parts);
    auto light = make_light_plan(step.op, step.analysis, full);
    add(light ? *std::move(light) : std::move(full), step, parts);
    return true;
  }

 private:
  static bool is_used(std::span<const formula::Step> steps, int number) {
    return std::ranges::any_of(steps, [&](const formula::Step& step) {
      return std::ranges::count(step.tensors, number) != 0;
    });
  }

  /// The plan of a step that is no product, which may have parts.
  void add(Plan planned, const formula::Step& step, const std::vector<formula::Analysis>& parts) {
    auto* const several = std::get_if<Several>(&planned.family);
    if (several == nullptr) {
      add(std::move(planned), step.tensors, step.analysis);
      return;
    }
    // The step's tensors are followed by temporaries, which go behind those that are there.
    std::vector<int> numbers = step.tensors;
    for (const Temporary& temporary : several->temporaries) {
      numbers.push_back(static_cast<int>(plan_.operands.size() + several_.temporaries.size()));
      several_.temporaries.push_back(temporary);
    }
    for (std::size_t i = 0; i < several->parts.size(); ++i) {
      std::vector<int> tensors;
      for (const int own : several->parts[i].tensors)
        tensors.push_back(numbers[static_cast<std::size_t>(own)]);
      add(std::move(several->parts[i]), std::move(tensors), parts[i]);
    }
  }

  void add(Plan part, std::vector<int> tensors, formula::Analysis analysis) {
    part.kernel_name = plan_.kernel_name + "_part" + std::to_string(several_.parts.size());
    part.tensors = std::move(tensors);
    several_.parts.push_back(std::move(part));
    if (of_parts_ != nullptr) of_parts_->push_back(std::move(analysis));
  }

  Plan& plan_;
  Several& several_;
  std::vector<formula::Analysis>* of_parts_;
};

}  // namespace

Plan plan_steps(const Fused& op, const formula::Analysis& analysis, const Target& target,
                std::vector<formula::Analysis>* of_parts) {
  const std::vector<formula::Step> steps =
      with_statistics(op, target, with_pairs(op, target, with_prologues(op, analysis)));
  const bool is_one = steps.size() == 1;
  if (!is_one) check_tuning_of_several(op.tuning);
  Plan plan = outline(op, analysis, target);
  PartList list(analysis, steps, plan, of_parts);
  for (const formula::Step& step : steps) list.add(step, is_one ? op.tuning : Tuning());
  return plan;
}

std::optional<Plan> plan_light_steps(const Fused& op, const formula::Analysis& analysis,
                                     const Target& target) {
  Plan plan = outline(op, analysis, target);
  const std::vector<formula::Step> steps = with_prologues(op, analysis);
  PartList list(analysis, steps, plan, nullptr);
  bool has_products = false;
  for (const formula::Step& step : steps) {
    if (!list.add_light(step)) return std::nullopt;
    has_products = has_products || formula::has_product(step.analysis.program);
  }
  return has_products ? std::optional(std::move(plan)) : std::nullopt;
}

}  // namespace tilejit::plan
