#pragma once

#include "plan/iteration.hpp"
#include "plan/plan.hpp"
#include "plan/split.hpp"

namespace tilejit::plan {

/// The plan, a Several, of an operation that is not one kernel (is_one_kernel), or should not be.
/// Throws Error{invalid_spec} for pinned knobs other than atomics, because knobs are for one
/// kernel.
[[nodiscard]] Plan plan_parts(const Fused& op, const formula::Analysis& analysis,
                              const Target& target, Split parts,
                              std::vector<formula::Analysis>* of_parts);

/// The plan, a Several, of an operation whose analysis has steps. Throws what `make_plan` and
/// `plan_product` throw, and Error{invalid_spec} for pinned knobs if there are several steps.
[[nodiscard]] Plan plan_steps(const Fused& op, const formula::Analysis& analysis,
                              const Target& target, std::vector<formula::Analysis>* of_parts);
/// The same plan from light ones, without tuning; nothing if no step multiplies matrices, or if one
/// of these would take long.
[[nodiscard]] std::optional<Plan> plan_light_steps(const Fused& op,
                                                   const formula::Analysis& analysis,
                                                   const Target& target);

/// Functions that parts share with plans of one kernel. `kernel_name_of` returns the name that
/// profilers show; `leader` is the first tensor that is written.
[[nodiscard]] operation::Signature signature_of(const Fused& op, const formula::Analysis& analysis);
[[nodiscard]] std::string kernel_name_of(const Fused& op, std::size_t leader);
/// Tensor `t` as an operand, with how vectors along the innermost mode reach it, as far as that
/// mode decides.
[[nodiscard]] Operand make_operand(const Fused& op, const formula::Analysis& analysis,
                                   const std::vector<IterationMode>& modes, std::size_t t);
/// Throws Error{invalid_spec} for pinned knobs other than atomics, which are for one kernel.
void check_tuning_of_several(const Tuning& tuning);
/// A plan of one kernel in the space of `analysis`. Extents that the program asks for are those of
/// `shape`. Throws what `make_plan` throws.
[[nodiscard]] Plan make_plan_in_space(const Fused& op, const formula::Analysis& analysis,
                                      const Target& target, const std::vector<Dim>& shape);

}  // namespace tilejit::plan
