#pragma once

#include <vector>

#include "expr/program.hpp"

namespace tilejit::expr {

/// A bound for each node that none of its values is below, whatever the inputs are; minus infinity
/// if none is known. A value may also be nan.
[[nodiscard]] std::vector<double> least_values(const Program& program);

/// Whether the node is a sum of exponentials of what is below its maximum, of which one is that of
/// 0: none is below 1, except that of an empty row, which is 0. It may also be nan.
[[nodiscard]] bool sums_below_maximum(const Program& program, const Node& node);

}  // namespace tilejit::expr
