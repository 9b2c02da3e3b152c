#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.hpp"

namespace tilejit::plan {

/// What a box of at most `most` elements takes of each mode: as much as makes long runs of all
/// operands, and longer ones of outputs.
[[nodiscard]] std::vector<std::int64_t> choose_extents(const Plan& plan, std::int64_t most);

/// Bytes of an operand that lie one after another in a box of `extents` elements, or nearly so.
[[nodiscard]] std::int64_t run_bytes(const Plan& plan, const Operand& operand,
                                     const std::vector<std::int64_t>& extents);

/// Cycles per element that the memory takes because blocks of `block` elements meet within sectors
/// of outputs.
[[nodiscard]] double cycles_of_meetings(const Plan& plan, const std::vector<std::int64_t>& block);

/// The same of the outputs with gaps of a map whose blocks take `block[m]` coordinates of mode m.
[[nodiscard]] double cycles_of_cuts(const Plan& plan, const std::vector<std::int64_t>& block);

}  // namespace tilejit::plan
