#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "formula/analysis.hpp"
#include "plan/plan.hpp"
#include "tilejit/fused.hpp"

namespace tilejit::plan {

/// Chooses how many elements a thread takes at once, and how it accesses them: Plan::vector, ragged
/// and peeled, and of each operand access_bytes and shifted. `plan` must have its space, operands
/// and family. `transposed_mode` is the mode along which only some operands are contiguous; if
/// `by_pairs` is false, vectors of a tile that are shifted have 8 bytes or more. Throws
/// Error{invalid_spec} for tuning that cannot be honoured.
void choose_vector(const Fused& op, const formula::Analysis& analysis,
                   std::optional<std::size_t> transposed_mode, bool light, Plan& plan,
                   bool by_pairs = true);

/// The most rows of an operand of a flat map that a vector may lie in.
[[nodiscard]] std::int64_t rows_of_vector(const Operand& operand, std::int64_t vector);

/// The plan of a map with shorter vectors.
[[nodiscard]] Plan with_vector(Plan plan, int vector);

}  // namespace tilejit::plan
