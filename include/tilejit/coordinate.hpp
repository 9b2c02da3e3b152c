#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "tilejit/nested.hpp"

namespace tilejit {

/// `_`: all of a mode.
struct Underscore {
  bool operator==(const Underscore&) const = default;
};
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

}  // namespace tilejit

template <>
struct std::hash<tilejit::CoordinateLeaf> {
  std::size_t operator()(const tilejit::CoordinateLeaf& leaf) const noexcept {
    return std::hash<std::int64_t>{}(leaf.value());
  }
};
