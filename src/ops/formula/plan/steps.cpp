// Plans of operations whose analysis has steps: a product each, or a formula in one space.
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "attention/attention_plan.hpp"
#include "formula/product.hpp"
#include "matmul/product_plan.hpp"
#include "plan/pairs.hpp"
#include "plan/params.hpp"
#include "plan/parts.hpp"
#include "plan/prologues.hpp"
#include "plan/row_reductions.hpp"
#include "plan/statistics.hpp"
#include "wgmma/copies.hpp"

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

/// What a kernel computes: a step, or an attention.
struct Kernel {
  formula::Step step = {};
  std::optional<AttentionPlan> attention = {};

  [[nodiscard]] const std::vector<int>& tensors() const {
    return attention ? attention->tensors : step.tensors;
  }
};

std::vector<Kernel> kernels_of(std::vector<formula::Step> steps) {
  std::vector<Kernel> kernels;
  for (formula::Step& step : steps) kernels.push_back({.step = std::move(step)});
  return kernels;
}

/// The kernels if some of them are attentions, else none.
std::vector<Kernel> with_attentions(const Fused& op, const formula::Analysis& analysis,
                                    const Target& target) {
  std::vector<std::optional<AttentionPlan>> attentions(analysis.steps.size());
  std::vector<bool> is_part(analysis.steps.size());  // of an attention
  for (std::size_t s = 0; s < analysis.steps.size(); ++s) {
    const formula::AttentionSearch search = formula::find_attention(analysis, s);
    if (!search.found) continue;
    AttentionPlan planned = plan_attention(analysis, search, target, op.tuning);
    if (!planned.plan) continue;
    attentions[s] = std::move(planned);
    is_part[search.found->scores] = is_part[search.found->weights] = is_part[s] = true;
    if (search.found->rows) is_part[*search.found->rows] = true;
  }
  if (std::ranges::count(is_part, true) == 0) return {};
  std::vector<std::optional<formula::Step>> steps = with_prologues(op, analysis, is_part);
  std::vector<Kernel> kernels;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    if (attentions[s]) kernels.push_back({.attention = std::move(attentions[s])});
    if (steps[s] && !is_part[s]) kernels.push_back({.step = *std::move(steps[s])});
  }
  return kernels;
}

/// Adds the plans of steps to those of an operation.
class PartList {
 public:
  PartList(const formula::Analysis& analysis, const std::vector<Kernel>& kernels, Plan& plan,
           std::vector<formula::Analysis>* of_parts, std::span<const Temporary> copies = {})
      : plan_(plan), several_(plan.family.emplace<Several>()), of_parts_(of_parts) {
    several_.apart = true;
    auto number = static_cast<int>(plan.operands.size());
    for (const formula::StepResult& result : analysis.results) {
      Dim elements = 1;
      for (const Dim& extent : result.shape) elements = elements * extent;
      if (!is_used(kernels, number++)) elements = 0;  // by a step that became a part of another one
      several_.temporaries.push_back({.dtype = result.dtype, .elements = elements});
    }
    several_.temporaries.insert(several_.temporaries.end(), copies.begin(), copies.end());
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

  void add(AttentionPlan attention) {
    add(std::move(*attention.plan), std::move(attention.tensors), std::move(attention.analysis));
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
  static bool is_used(const std::vector<Kernel>& kernels, int number) {
    return std::ranges::any_of(kernels, [&](const Kernel& kernel) {
      return std::ranges::count(kernel.tensors(), number) != 0;
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

/// `steps` with reductions in products, and copies of operands: tensors from number `first` on.
StepList with_memory(std::vector<formula::Step> steps, int first, const Fused& op,
                     const Target& target) {
  StepList reduced = with_row_reductions(op, target, std::move(steps), first);
  const int next = first + static_cast<int>(reduced.temporaries.size());
  StepList copied = with_copied_operands(std::move(reduced.steps), next, target);
  copied.temporaries.insert(copied.temporaries.begin(), reduced.temporaries.begin(),
                            reduced.temporaries.end());
  return copied;
}

}  // namespace

Plan plan_steps(const Fused& op, const formula::Analysis& analysis, const Target& target,
                std::vector<formula::Analysis>* of_parts) {
  std::vector<Kernel> kernels = with_attentions(op, analysis, target);
  StepList made;
  if (kernels.empty())
    made.steps = with_statistics(op, target, with_pairs(op, target, with_prologues(op, analysis)));
  const bool is_one = kernels.empty() ? made.steps.size() == 1 : kernels.size() == 1;
  if (!is_one) check_tuning_of_several(op.tuning);
  if (kernels.empty() && op.tuning == Tuning()) {
    made = with_memory(std::move(made.steps),
                       static_cast<int>(op.tensors.size() + analysis.results.size()), op, target);
  }
  Plan plan = outline(op, analysis, target);
  if (kernels.empty()) kernels = kernels_of(std::move(made.steps));
  PartList list(analysis, kernels, plan, of_parts, made.temporaries);
  for (Kernel& kernel : kernels) {
    if (kernel.attention) {
      list.add(*std::move(kernel.attention));
    } else {
      list.add(kernel.step, is_one ? op.tuning : Tuning());
    }
  }
  return plan;
}

std::optional<Plan> plan_light_steps(const Fused& op, const formula::Analysis& analysis,
                                     const Target& target) {
  if (!with_attentions(op, analysis, target).empty()) return std::nullopt;
  const std::vector<Kernel> kernels = kernels_of(with_prologues(op, analysis));
  Plan plan = outline(op, analysis, target);
  PartList list(analysis, kernels, plan, nullptr);
  bool has_products = false;
  for (const Kernel& kernel : kernels) {
    if (!list.add_light(kernel.step)) return std::nullopt;
    has_products = has_products || formula::has_product(kernel.step.analysis.program);
  }
  return has_products ? std::optional(std::move(plan)) : std::nullopt;
}

}  // namespace tilejit::plan
