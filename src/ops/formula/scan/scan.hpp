#pragma once

#include <cstdint>
#include <optional>

#include "plan/plan.hpp"

namespace tilejit::plan {

/// The direction of all scans of `program`; nothing if it has none. `program` must be one kernel's
/// (is_one_kernel).
[[nodiscard]] std::optional<Direction> direction_of(const expr::Program& program) noexcept;

/// Whether each thread has a column to itself and holds it: columns are short, and vectors of
/// `plan` lie across rows.
[[nodiscard]] bool scans_alone(const Plan& plan);

/// Whether threads of a column take its vectors in turns, rather than neighbours each: a row of an
/// output shares sectors with the one below, which neighbours would store in parts.
[[nodiscard]] bool takes_turns(const Plan& plan, const Rows& rows);

/// Whether a vector a thread would leave many lanes of many rows of `vectors` idle. False if the
/// number of rows is not known.
[[nodiscard]] bool leaves_lanes_idle(std::int64_t vectors, std::optional<std::int64_t> rows);

/// The most elements of different rows that a thread scans side by side.
[[nodiscard]] int most_scanned_at_once(const Plan& plan);

/// Chooses the threads of `plan`, how they share rows, and the vectors of a chunk. `plan` must be a
/// Scan and have its extents, operands and vector. A thread takes at most 2 * `most_elements`
/// elements of a chunk. Throws Error{invalid_spec} for tuning that cannot be honoured.
void choose_scan_launch(Plan& plan, const Tuning& tuning, std::int64_t most_elements);

}  // namespace tilejit::plan
