#pragma once

#include "reference/problem.hpp"

namespace tilejit::reference {

/// The rows of a stored product compared as a whole: what was not compared element by element may
/// not be far off. For random signs s, the sum over n of d(m, n) s(n) is the sum over k of a(m, k)
/// times the sum over n of b(k, n) s(n), up to the roundings of all of the row's elements
/// (R. Freivalds, "Probabilistic machines can use less running time", 1977).
struct RowSums {
  std::int64_t mismatches = 0;  ///< rows whose sums are off
  std::int64_t row = 0;         ///< the first one's number, batches included
  double got = 0, want = 0, allowed = 0;
};

/// Compares all rows of what `store` stored at `actual`, where its value is the problem's product
/// and the operands are in memory. Takes time as reading each tensor once.
[[nodiscard]] RowSums compare_row_sums(const Problem& problem, const expr::Store& store,
                                       const void* actual);

}  // namespace tilejit::reference
