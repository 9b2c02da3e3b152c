#pragma once

#include <vector>

#include "expr/program.hpp"

namespace tilejit::expr {

/// A bound for each node that none of its values is below, whatever the inputs are; minus infinity
/// if none is known. A value may also be nan.
[[nodiscard]] std::vector<double> least_values(const Program& program);

}  // namespace tilejit::expr
