#pragma once

#include <cstdint>
#include <span>

#include "plan/plan.hpp"
#include "tilejit/fused.hpp"

namespace tilejit::test {

/// An operation made of `bytes`, whatever they are: reductions and scans over several axes, of each
/// other too, in spaces of known and symbolic extents, with broadcast, permuted and nested inputs.
/// Most are valid. Equal bytes give equal operations.
[[nodiscard]] Fused axes_case(std::span<const std::uint8_t> bytes);

/// Plans `op` for targets of three generations, and renders the plans, the light ones too. False if
/// the operation is refused. Throws std::logic_error if a plan contradicts itself: also if a stage
/// reads a temporary that none before it has written, or beyond its end.
bool check_plans(const Fused& op);

}  // namespace tilejit::test
