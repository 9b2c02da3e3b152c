#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "tilejit/int_tuple.hpp"

namespace tilejit {

/// One leaf of a layout: `extent` coordinates, `stride` elements apart.
struct Mode {
  Dim extent = 1;
  Dim stride = 0;
  bool operator==(const Mode&) const = default;
};

/// CuTe's layout: a function from coordinates to indices, `shape:stride`, both nested alike.
/// Extents and strides are in elements and not negative. A value type; `parse_layout(to_string(x))
/// == x`.
class Layout {
 public:
  Layout() = default;  ///< 1:0
  /// Throws Error{invalid_layout} if shape and stride are not congruent.
  Layout(const IntTuple& shape, const IntTuple& stride);
  /// Parses CuTe notation, "(8,(4,2)):(1,(8,32))"; without a stride the shape is row-major.
  Layout(std::string_view text);  // NOLINT: descriptors are written with layout text
  Layout(const char* text) : Layout(std::string_view(text)) {}
  Layout(const std::string& text) : Layout(std::string_view(text)) {}

  Layout(Nested<Mode> modes) noexcept : modes_(std::move(modes)) {}  // NOLINT: what a layout is

  [[nodiscard]] IntTuple shape() const;
  [[nodiscard]] IntTuple stride() const;
  /// Extents and strides in one tree.
  [[nodiscard]] const Nested<Mode>& modes() const noexcept { return modes_; }
  /// The leaves in order, extents of 1 included. Valid until this value changes.
  [[nodiscard]] std::span<const Mode> leaves() const noexcept { return modes_.leaves(); }

  bool operator==(const Layout&) const = default;

 private:
  Nested<Mode> modes_;
};

/// Compact layouts: the last (row-major) or the first (column-major) leaf has stride 1. As in CuTe,
/// an extent of 1 gets stride 0. Throws Error{unsupported} on overflow or where a stride has more
/// than 8 symbols.
[[nodiscard]] Layout row_major(const IntTuple& shape);
[[nodiscard]] Layout column_major(const IntTuple& shape);
/// Compact strides in the order given: order[i] is the rank of top-level mode i, 0 the fastest;
/// inside a mode column-major. Throws Error{invalid_layout} unless `order` is a permutation.
[[nodiscard]] Layout ordered(const IntTuple& shape, std::span<const int> order);

[[nodiscard]] std::size_t rank(const Layout& layout) noexcept;
[[nodiscard]] Dim size(const Layout& layout);
[[nodiscard]] Layout mode(const Layout& layout, std::size_t i);
/// One more than the largest index, in elements; 0 for an empty layout. Throws Error{unsupported}
/// on overflow and Error{invalid_argument} if a symbol has no value.
[[nodiscard]] std::int64_t cosize(const Layout& layout, const SymbolValues& values = {});
/// The layout with all symbols filled in. Throws Error{invalid_argument} if one has no value.
[[nodiscard]] Layout substitute(const Layout& layout, const SymbolValues& values);

/// "shape:stride" in CuTe's notation, without spaces.
[[nodiscard]] std::string to_string(const Layout& layout);
/// As the constructor. Throws Error{invalid_layout} with the position of the mistake.
[[nodiscard]] Layout parse_layout(std::string_view text);

}  // namespace tilejit
