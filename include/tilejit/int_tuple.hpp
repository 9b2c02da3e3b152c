#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tilejit/dim.hpp"
#include "tilejit/nested.hpp"

namespace tilejit {

/// CuTe's IntTuple: one integer (here a `Dim`), or a tuple of IntTuples.
using IntTuple = Nested<Dim>;

[[nodiscard]] std::size_t rank(const IntTuple& tuple) noexcept;   ///< 1 for a leaf
[[nodiscard]] std::size_t depth(const IntTuple& tuple) noexcept;  ///< 0 for a leaf
/// The product of all leaves. Throws Error{unsupported} on overflow or beyond 8 symbols.
[[nodiscard]] Dim product(const IntTuple& tuple);
/// The i-th mode; mode 0 of a leaf is the leaf. Throws Error{invalid_layout} if there is none.
[[nodiscard]] IntTuple mode(const IntTuple& tuple, std::size_t i);
/// Same nesting, whatever the integers are.
[[nodiscard]] bool congruent(const IntTuple& a, const IntTuple& b) noexcept;

/// CuTe's notation without spaces: "(8,(4,2))".
[[nodiscard]] std::string to_string(const IntTuple& tuple);
/// Throws Error{invalid_layout} with the position of the mistake. Spaces are allowed; a text has at
/// most 64 levels of nesting and 64 leaves, its integers are at most 2^63-1.
[[nodiscard]] IntTuple parse_int_tuple(std::string_view text);

}  // namespace tilejit
