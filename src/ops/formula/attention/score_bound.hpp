#pragma once

#include <optional>

#include "expr/program.hpp"

namespace tilejit::plan {

/// Numbers between which all values of a formula lie, the ends included. Not a number counts as
/// any.
struct Bound {
  double least, greatest;
  bool operator==(const Bound&) const = default;
};

/// The bound of an f32 node whatever its tensors and scalars are, if it has one: tanh(x) lies
/// between -1 and 1.
[[nodiscard]] std::optional<Bound> bound_of(const expr::Program& program, expr::NodeId id);

}  // namespace tilejit::plan
