#pragma once

#include <optional>

#include "plan/plan.hpp"

namespace tilejit::plan {

/// The plan of the same operation by sheared tiles, if `plan` has tiles whose outputs, or
/// transposed inputs, have elements of one or two bytes and rows that are not aligned. `plan` is
/// complete except for its params. Returns nothing also if extents or strides are symbols, if
/// outputs are transposed, if the rows of other operands do not begin as far behind aligned
/// addresses as the output's, or if tiles would be few.
[[nodiscard]] std::optional<Plan> plan_by_shearing(const Plan& plan);

/// Elements by which a row may begin before its tile's first column: those of a sector of the first
/// output.
[[nodiscard]] int shear_of(const Plan& plan);

/// Bytes of shared memory that the transposed operands take.
[[nodiscard]] std::int64_t shared_bytes(const Plan& plan, const Sheared& sheared);

}  // namespace tilejit::plan
