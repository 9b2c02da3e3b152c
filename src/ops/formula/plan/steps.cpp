// Plans of operations whose analysis has steps: a product each, or a formula in one space.
#include <algorithm>
#include <utility>

#include "attention/attention_plan.hpp"
#include "formula/product.hpp"
#include "matmul/product_plan.hpp"
#include "plan/params.hpp"
#include "plan/parts.hpp"

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
  PartList(const formula::Analysis& analysis, Plan& plan, std::vector<formula::Analysis>* of_parts)
      : plan_(plan), several_(plan.family.emplace<Several>()), of_parts_(of_parts) {
    several_.apart = true;
    for (const formula::StepResult& result : analysis.results) {
      Dim elements = 1;
      for (const Dim& extent : result.shape) elements = elements * extent;
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
    Plan planned = make_plan(op, step.analysis, plan_.target, &parts);
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

  void add(AttentionPlan attention) {
    add(std::move(*attention.plan), std::move(attention.tensors), std::move(attention.analysis));
  }

  /// Leaves out results that no part has.
  void drop_unused() {
    const std::size_t tensors = plan_.operands.size();
    for (std::size_t t = several_.temporaries.size(); t-- > 0;) {
      const int number = static_cast<int>(tensors + t);
      const auto has = [&](const Plan& part) {
        return std::ranges::find(part.tensors, number) != part.tensors.end();
      };
      if (std::ranges::any_of(several_.parts, has)) continue;
      several_.temporaries.erase(several_.temporaries.begin() + static_cast<std::ptrdiff_t>(t));
      for (Plan& part : several_.parts) {
        for (int& one : part.tensors) one -= one > number;
      }
    }
  }

 private:
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
  const bool is_one = analysis.steps.size() == 1;
  if (!is_one) check_tuning_of_several(op.tuning);
  Plan plan = outline(op, analysis, target);
  PartList list(analysis, plan, of_parts);
  std::vector<std::optional<AttentionPlan>> attentions(analysis.steps.size());
  std::vector<bool> is_part(analysis.steps.size());  // of an attention
  for (std::size_t s = 0; s < analysis.steps.size(); ++s) {
    const formula::AttentionSearch search = formula::find_attention(analysis, s);
    if (!search.found) continue;
    attentions[s] = plan_attention(analysis, *search.found, target);
    is_part[search.found->scores] = attentions[s]->plan.has_value();
    is_part[search.found->weights] = attentions[s]->plan.has_value();
  }
  for (std::size_t s = 0; s < analysis.steps.size(); ++s) {
    if (is_part[s]) continue;
    if (attentions[s] && attentions[s]->plan) {
      list.add(std::move(*attentions[s]));
    } else {
      list.add(analysis.steps[s], is_one ? op.tuning : Tuning());
    }
  }
  list.drop_unused();
  return plan;
}

}  // namespace tilejit::plan
