#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/plan.hpp"

namespace tilejit::plan {

/// What a box of at most `most` elements takes of each mode: as much as makes long runs of all
/// operands, and longer ones of outputs.
[[nodiscard]] std::vector<std::int64_t> choose_extents(const Plan& plan, std::int64_t most);

/// The side along mode 0 of boxes that begin where sectors of the only output do, although its rows
/// do not, if that is the same for all rows of a box of `extents` elements. Blocks of neighbours in
/// a row then share no sector. Nothing also if there would be more boxes, or of more than `most`
/// elements.
[[nodiscard]] std::optional<std::int64_t> sheared_side(const Plan& plan,
                                                       const std::vector<std::int64_t>& extents,
                                                       std::int64_t most);

/// Bytes of an operand that lie one after another in a box of `extents` elements, or nearly so.
[[nodiscard]] std::int64_t run_bytes(const Plan& plan, const Operand& operand,
                                     const std::vector<std::int64_t>& extents);

/// Cycles per element that the memory takes because blocks of `block` elements meet within sectors
/// of outputs.
[[nodiscard]] double cycles_of_meetings(const Plan& plan, const std::vector<std::int64_t>& block);

/// The same of a map whose blocks take `block[m]` coordinates of mode m, where other blocks store
/// between these.
[[nodiscard]] double cycles_of_cuts(const Plan& plan, const std::vector<std::int64_t>& block);

}  // namespace tilejit::plan
