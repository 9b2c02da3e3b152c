#pragma once

#include <cstdint>

#include "expr/centred_sums.hpp"
#include "reference/bounds.hpp"

namespace tilejit::reference {

/// What a correction is made of: results of one row (expr::Correction).
struct CorrectedRow {
  std::int64_t count = 0;
  Approx sum = {};      ///< of x - mean(x)
  Approx squares = {};  ///< the sum of their squares
  Approx mean = {};     ///< as computed; of a corrected mean only
};

/// Whether the values that a correction is about are those of a tensor, without an error.
[[nodiscard]] bool has_exact_values(const expr::Program& program,
                                    const expr::Correction& correction) noexcept;

/// Bounds of corrected results of a row of exact values, infinite where values are not finite.
/// Bounds of the operations one by one do not know that the mean's error cancels.
[[nodiscard]] double corrected_squares_bound(DType type, const CorrectedRow& row) noexcept;
[[nodiscard]] double corrected_mean_bound(DType type, const CorrectedRow& row) noexcept;

}  // namespace tilejit::reference
