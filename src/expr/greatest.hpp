#pragma once

#include <vector>

#include "expr/program.hpp"

namespace tilejit::expr {

/// A bound for each node that the magnitude of none of its finite values is above, whatever the
/// inputs are, apart from what rounding adds; infinity if none is known.
[[nodiscard]] std::vector<double> greatest_magnitudes(const Program& program);

}  // namespace tilejit::expr
