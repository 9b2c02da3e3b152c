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
/// A tuple of all leaves; a leaf stays one.
[[nodiscard]] IntTuple flatten(const IntTuple& tuple);
/// The modes of `flat`, nested as `profile`, whose integers do not matter. Throws
/// Error{invalid_layout} unless it has as many leaves.
[[nodiscard]] IntTuple unflatten(const IntTuple& flat, const IntTuple& profile);

// All functions below are CuTe's, pure and thread-safe; their cost grows with the number of leaves
// times the depth. Tuples whose ranks do not fit together are Error{invalid_layout}.

/// The product of each mode; a leaf stays one. Throws as `product`.
[[nodiscard]] IntTuple product_each(const IntTuple& tuple);
/// The products of what is below the leaves of `guide`, whose integers do not matter.
[[nodiscard]] IntTuple product_like(const IntTuple& tuple, const IntTuple& guide);

/// a / b, rounded up. Tuples by mode, where `b` may have fewer; an integer by the product of a
/// tuple; a tuple by an integer folds: each mode is divided by what the modes before it leave of
/// `b`. Throws Error{invalid_layout} for a divisor of 0.
[[nodiscard]] IntTuple ceil_div(const IntTuple& a, const IntTuple& b);
/// As ceil_div, for tuples of equal rank in which, at each leaf, one divides the other. Throws
/// Error{invalid_layout} if none does, Error{unsupported} if a symbol leaves that open.
[[nodiscard]] IntTuple shape_div(const IntTuple& a, const IntTuple& b);
/// The least multiple of `b` that is not below `a`. Tuples by mode, where `b` may have fewer.
/// Throws Error{invalid_layout} for a tuple and an integer, or a `b` of 0.
[[nodiscard]] IntTuple round_up(const IntTuple& a, const IntTuple& b);

/// Same nesting, whatever the integers are.
[[nodiscard]] bool congruent(const IntTuple& a, const IntTuple& b) noexcept;
/// The nesting of `b` is that of `a`, or splits leaves of it.
[[nodiscard]] bool weakly_congruent(const IntTuple& a, const IntTuple& b);
/// Coordinates of `a` are coordinates of `b`: weakly congruent, with the same size at each leaf of
/// `a`. With symbols: if that is certain. Throws as `product`.
[[nodiscard]] bool compatible(const IntTuple& a, const IntTuple& b);

// These throw Error{invalid_layout} if a leaf meets a tuple, Error{unsupported} if a symbol leaves
// the answer open.

/// The first mode that differs is less, or `a` is the beginning of `b`.
[[nodiscard]] bool lex_less(const IntTuple& a, const IntTuple& b);
/// The last mode that differs is less, or `a` is the end of `b`.
[[nodiscard]] bool colex_less(const IntTuple& a, const IntTuple& b);
/// Every mode of `a` is less than that of `b`, which may have more.
[[nodiscard]] bool elem_less(const IntTuple& a, const IntTuple& b);

/// CuTe's notation without spaces: "(8,(4,2))".
[[nodiscard]] std::string to_string(const IntTuple& tuple);
/// Throws Error{invalid_layout} with the position of the mistake. Spaces are allowed; a text has at
/// most 64 levels of nesting and 64 leaves, its integers are at most 2^63-1.
[[nodiscard]] IntTuple parse_int_tuple(std::string_view text);

}  // namespace tilejit
