#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/plan.hpp"

namespace tilejit::plan {

// How modes of columns are put in another order, so that lanes side by side have neighbours of
// operands that lie in different orders.

/// Whether an operand has one leaf of known stride along the mode.
[[nodiscard]] bool is_whole(const OperandMode& mode);
/// Cuts `extent` elements off mode m, which the next mode then continues, in whatever has modes.
/// Each value has one leaf along m.
void cut_mode(std::size_t m, std::int64_t extent, Plan& plan);
/// Moves mode `from` to the place of an earlier one.
void move_mode(std::size_t from, std::size_t to, Plan& plan);
/// Removes the modes 1 to end - 1 that have one element.
void erase_single_modes(std::size_t end, Plan& plan, Rows& rows);

/// Cuts the modes of columns that are held, whose output's neighbours lie a sector apart in an
/// input, while the input is contiguous along another kept mode: blocks then have whole sectors of
/// both. Nothing changes if threads could not hold such a block's columns, or if no part divides
/// the modes. `plan` must have its vector.
void cross_columns(Plan& plan);

/// Whether modes of these columns are cut so.
[[nodiscard]] bool has_crossed_columns(const Plan& plan, const Rows& rows);

}  // namespace tilejit::plan
