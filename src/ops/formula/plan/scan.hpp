#pragma once

#include <cstdint>
#include <optional>

#include "plan/plan.hpp"

namespace tilejit::plan {

/// How the scans of `program`, which is one kernel's (is_one_kernel), go; nothing without scans.
[[nodiscard]] std::optional<Direction> direction_of(const expr::Program& program) noexcept;

/// The most elements of different rows that a thread scans side by side.
[[nodiscard]] int most_scanned_at_once(const Plan& plan);

/// Chooses the threads of `plan`, a Scan, how they share rows, and the vectors of a chunk. `plan`
/// has its extents, operands and vector; a thread takes at most 2 * `most_elements` of a chunk.
/// Throws Error{invalid_spec} for tuning that cannot be honoured.
void choose_scan_launch(Plan& plan, const Tuning& tuning, std::int64_t most_elements);

}  // namespace tilejit::plan
