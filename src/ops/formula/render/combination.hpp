#pragma once

#include <string>
#include <string_view>

#include "expr/program.hpp"

namespace tilejit::render {

/// The device type that accumulates values of `node`. It has at least four bytes, because threads
/// exchange it.
[[nodiscard]] std::string_view accumulator_type(const expr::Node& node);

/// The first value of an accumulator of the reduction or scan `node`: the result for no elements.
/// But extrema of floats start with nan. They ignore nan, so it is left only if there is nothing
/// else.
[[nodiscard]] std::string identity(const expr::Node& node);

[[nodiscard]] bool is_extremum(expr::Op op) noexcept;

/// A nan of the type that computes `node`, which must be a float type.
[[nodiscard]] std::string nan_of(const expr::Node& node);

/// The result of an extremum of floats for no elements.
[[nodiscard]] std::string infinity(const expr::Node& node);

}  // namespace tilejit::render
