#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "tilejit/layout.hpp"

namespace tilejit {

/// `_`: all of a mode.
struct Underscore {};
inline constexpr Underscore _;

/// One leaf of a coordinate: an integer that is not negative, or `_`.
class CoordinateLeaf {
 public:
  CoordinateLeaf() = default;
  /// Throws Error{invalid_layout} if `value` is negative.
  CoordinateLeaf(std::integral auto value)  // NOLINT: written as the value it is
      : value_(static_cast<std::int64_t>(value)) {
    if (value_ < 0) refuse_negative(value_);
  }
  CoordinateLeaf(Underscore) noexcept : value_(kUnderscore) {}  // NOLINT

  [[nodiscard]] bool is_underscore() const noexcept { return value_ == kUnderscore; }
  /// Meaningful unless is_underscore().
  [[nodiscard]] std::int64_t value() const noexcept { return value_; }
  bool operator==(const CoordinateLeaf&) const = default;

 private:
  static constexpr std::int64_t kUnderscore = -1;
  [[noreturn]] static void refuse_negative(std::int64_t value);

  std::int64_t value_ = 0;
};

/// CuTe's coordinate: {1, {_, 3}} is written "(1,(_,3))". An integer stands for a whole mode by its
/// colexicographic number, a tuple for its modes.
using Coordinate = Nested<CoordinateLeaf>;

[[nodiscard]] std::string to_string(const CoordinateLeaf& leaf);
/// Without spaces; parse_coordinate(to_string(x)) == x.
[[nodiscard]] std::string to_string(const Coordinate& coordinate);
/// Throws Error{invalid_layout} with the position of the mistake. Spaces are allowed; a text has at
/// most 64 levels of nesting and 64 leaves, its integers are at most 2^63-1.
[[nodiscard]] Coordinate parse_coordinate(std::string_view text);

// All functions below are pure and thread-safe. Their cost grows with the number of leaves (times
// the depth, where coordinate and layout are not nested alike), not with sizes. A coordinate whose
// tuples are not the layout's, a `_` where an integer is needed, an index below 0 and an extent of
// 0 are Error{invalid_layout}; a symbol or '?' that is needed, and results beyond 2^63-1, are
// Error{unsupported}.

/// The index of the element at `coordinate`. There is no check of the domain: as in CuTe an integer
/// wraps in each mode but the last, which goes on beyond its extent.
[[nodiscard]] std::int64_t index(const Layout& layout, const Coordinate& coordinate);
/// The same for one integer, the colexicographic number; without heap.
[[nodiscard]] std::int64_t index(const Layout& layout, std::int64_t coordinate);

/// index(Layout(shape, stride), coordinate).
[[nodiscard]] std::int64_t crd2idx(const Coordinate& coordinate, const IntTuple& shape,
                                   const IntTuple& stride);
/// The colexicographic number of the coordinate.
[[nodiscard]] std::int64_t crd2idx(const Coordinate& coordinate, const IntTuple& shape);

/// The coordinate, nested as `shape`, of a colexicographic number. The last leaf is not wrapped.
[[nodiscard]] Coordinate idx2crd(std::int64_t index, const IntTuple& shape);
/// So for each integer of a coordinate that stands for a tuple.
[[nodiscard]] Coordinate idx2crd(const Coordinate& coordinate, const IntTuple& shape);
/// (index / stride) % extent for each leaf, 0 where the extent is 1: the coordinate of an index, if
/// the layout is compact. Throws Error{invalid_layout} for a stride of 0 of another extent.
[[nodiscard]] Coordinate idx2crd(std::int64_t index, const IntTuple& shape, const IntTuple& stride);

/// The coordinate of an index, as idx2crd of shape and stride: nested as the layout, with one
/// integer for each mode (one leaf for rank 1), or as one integer.
[[nodiscard]] Coordinate get_hier_coord(std::int64_t index, const Layout& layout);
[[nodiscard]] Coordinate get_flat_coord(std::int64_t index, const Layout& layout);
[[nodiscard]] std::int64_t get_1d_coord(std::int64_t index, const Layout& layout);

/// What a coordinate with `_` leaves of a layout.
struct Slice {
  Layout layout;
  std::int64_t offset = 0;  ///< of its first element
};
/// A tuple of the modes where `coordinate` is `_`, whatever its nesting (all of the layout for a
/// `_` alone), and the index of the other integers. Throws Error{invalid_layout} without a `_`.
[[nodiscard]] Slice slice(const Coordinate& coordinate, const Layout& layout);
/// A tuple of the other modes: those where `coordinate` is an integer (all of the layout for an
/// integer alone). Throws Error{invalid_layout} if there is none.
[[nodiscard]] Layout dice(const Coordinate& coordinate, const Layout& layout);

}  // namespace tilejit

template <>
struct std::hash<tilejit::CoordinateLeaf> {
  std::size_t operator()(const tilejit::CoordinateLeaf& leaf) const noexcept {
    return std::hash<std::int64_t>{}(leaf.value());
  }
};
