#pragma once

#include <string>
#include <string_view>

#include "expr/program.hpp"

namespace tilejit::render {

/// The device type that accumulates values of `node`: at least four bytes, which threads exchange.
[[nodiscard]] std::string_view accumulator_type(const expr::Node& node);

/// What an accumulator of the reduction or scan `node` starts with: the result of nothing, except
/// that extrema of floats start with nan, which they ignore, and which is left if there is nothing
/// else.
[[nodiscard]] std::string identity(const expr::Node& node);

[[nodiscard]] bool is_extremum(expr::Op op) noexcept;

/// A nan of the type that computes `node`, of floats.
[[nodiscard]] std::string nan_of(const expr::Node& node);

/// The result of nothing of an extremum of floats.
[[nodiscard]] std::string infinity(const expr::Node& node);

}  // namespace tilejit::render
