#pragma once

#include <optional>
#include <vector>

#include "formula/analysis.hpp"
#include "tilejit/fused.hpp"

namespace tilejit::plan {

/// The steps of `analysis`, in which products compute their operands themselves where that is
/// cheap: an operand that is an elementwise function of one tensor, scalars and constants, which
/// nothing else reads, and of which few tiles of the product read each element. Such a product
/// step has that tensor as its operand's, and Op::matmul's argument is the function's value. The
/// step that would have computed the operand is left out.
[[nodiscard]] std::vector<formula::Step> with_prologues(const Fused& op,
                                                        const formula::Analysis& analysis);
/// The same by number of a step, empty if it is left out. Steps that are `fixed` remain as they
/// are.
[[nodiscard]] std::vector<std::optional<formula::Step>> with_prologues(
    const Fused& op, const formula::Analysis& analysis, const std::vector<bool>& fixed);

}  // namespace tilejit::plan
