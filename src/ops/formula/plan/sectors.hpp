#pragma once

#include "plan/plan.hpp"

namespace tilejit::plan {

/// Whether rows of an output begin within sectors of 32 bytes, so that blocks which store parts of
/// rows cut sectors, and whether the output is so large that memory completes these, not the L2
/// cache.
[[nodiscard]] bool cuts_sectors(const Plan& plan, const Operand& operand);

/// The elements along mode 0 that a block stores, if it stores parts of rows; else 0.
[[nodiscard]] std::int64_t strip_of(const Plan& plan);

}  // namespace tilejit::plan
