#pragma once

#include <cstdint>
#include <span>

#include "plan/plan.hpp"
#include "tilejit/fused.hpp"

namespace tilejit::test {

/// An operation made from arbitrary `bytes`: reductions and scans over several axes, also of each
/// other's results, in spaces of known and symbolic extents, with broadcast, permuted and nested
/// inputs. Most are valid. Equal bytes give equal operations.
[[nodiscard]] Fused axes_case(std::span<const std::uint8_t> bytes);

/// Plans `op` for targets of three generations, and renders the plans, including the light ones.
/// Returns false if the operation is refused. Throws std::logic_error if a plan contradicts itself,
/// also if a part reads a temporary that no earlier part has written, or beyond its end.
bool check_plans(const Fused& op);

}  // namespace tilejit::test
