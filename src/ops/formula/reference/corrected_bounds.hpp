#pragma once

#include <cstdint>

#include "expr/centred_sums.hpp"
#include "reference/bounds.hpp"

namespace tilejit::reference {

/// The results of one row that a correction uses (expr::Correction).
struct CorrectedRow {
  std::int64_t count = 0;
  Approx sum = {};      ///< of x - mean(x)
  Approx squares = {};  ///< sum of the squares of x - mean(x)
  Approx mean = {};     ///< as computed; only for a corrected mean
};

/// True if the correction applies to values of a tensor, which have no error.
[[nodiscard]] bool has_exact_values(const expr::Program& program,
                                    const expr::Correction& correction) noexcept;

/// Bounds of corrected results of a row of exact values; infinite if a value is not finite. Bounds
/// of single operations would be too large, as they do not see that the mean's error cancels.
[[nodiscard]] double corrected_squares_bound(DType type, const CorrectedRow& row) noexcept;
[[nodiscard]] double corrected_mean_bound(DType type, const CorrectedRow& row) noexcept;

}  // namespace tilejit::reference
