#pragma once

#include <string>
#include <vector>

#include "tilejit/fused.hpp"

namespace tilejit::test {

struct LongFormula {
  std::string name;
  Fused op;
};

/// Formulas of about `operations` operations (16 or more), each of a kind that takes the compiler
/// long: chains of integers of each width, comparisons, casts, floats, long-lived values, several
/// passes over a row, scans, several kernels.
[[nodiscard]] std::vector<LongFormula> long_formulas(int operations);

}  // namespace tilejit::test
