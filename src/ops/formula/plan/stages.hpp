#pragma once

#include "plan/iteration.hpp"
#include "plan/plan.hpp"

namespace tilejit::plan {

/// The plan of an operation that is not one kernel (is_one_kernel): Several. Throws
/// Error{invalid_spec} for pinned knobs, which are those of one kernel, except atomics; and as
/// split.
[[nodiscard]] Plan plan_stages(const Fused& op, const formula::Analysis& analysis,
                               const Target& target, std::vector<formula::Analysis>* of_stages);

/// What stages have in common with plans of one kernel. The name in a profiler; `leader`: the first
/// tensor that is written.
[[nodiscard]] operation::Signature signature_of(const Fused& op, const formula::Analysis& analysis);
[[nodiscard]] std::string kernel_name_of(const Fused& op, std::size_t leader);
/// Tensor `t`, and how vectors along the innermost mode reach it, as far as that mode decides.
[[nodiscard]] Operand make_operand(const Fused& op, const formula::Analysis& analysis,
                                   const std::vector<IterationMode>& modes, std::size_t t);
/// A plan of one kernel, with the space of `analysis`, whose program asks for extents of `shape`.
/// Throws as make_plan.
[[nodiscard]] Plan make_plan_in_space(const Fused& op, const formula::Analysis& analysis,
                                      const Target& target, const std::vector<Dim>& shape);

}  // namespace tilejit::plan
