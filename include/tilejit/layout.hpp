#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "tilejit/coordinate.hpp"
#include "tilejit/int_tuple.hpp"

namespace tilejit {

using Shape = IntTuple;
using Stride = IntTuple;

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
  Layout(std::nullptr_t) = delete;

  /// Throws Error{invalid_layout} if there is no mode.
  Layout(Nested<Mode> modes);  // NOLINT: what a layout is

  [[nodiscard]] IntTuple shape() const;
  [[nodiscard]] IntTuple stride() const;
  /// Extents and strides in one tree.
  [[nodiscard]] const Nested<Mode>& modes() const noexcept { return modes_; }
  /// The leaves in order, extents of 1 included. Valid until this value changes.
  [[nodiscard]] std::span<const Mode> leaves() const noexcept { return modes_.leaves(); }

  /// The index of the element at a coordinate: an integer, the colexicographic number; or a tuple
  /// of the layout's rank, each of its modes in turn an integer or a tuple. Pure and thread-safe;
  /// an integer needs no heap. Throws Error{invalid_layout} for a coordinate outside the layout or
  /// of another rank, a `_` (that is for `slice`), an extent of 0; Error{unsupported} for a symbol
  /// or '?', and beyond 2^63-1.
  [[nodiscard]] std::int64_t operator()(std::int64_t coordinate) const;
  [[nodiscard]] std::int64_t operator()(const Coordinate& coordinate) const;

  bool operator==(const Layout&) const = default;

 private:
  Nested<Mode> modes_;
};

/// Compact layouts: the last (row-major) or the first (column-major) leaf has the stride `first`.
/// As in CuTe, an extent of 1 gets stride 0. Throws Error{unsupported} on overflow or if a stride
/// has more than 8 symbols.
[[nodiscard]] Layout row_major(const IntTuple& shape, const Dim& first = 1);
[[nodiscard]] Layout column_major(const IntTuple& shape, const Dim& first = 1);
/// Compact strides in the order given: order[i] is the rank of top-level mode i, 0 the fastest;
/// inside a mode column-major. Throws Error{invalid_layout} unless `order` is a permutation.
[[nodiscard]] Layout ordered(const IntTuple& shape, std::span<const int> order);
/// Compact strides in the order given by any integers, nested as the shape or coarser: the stride
/// of a leaf is the size of all that has a smaller order. Leaves that share an integer of `order`
/// are column-major inside; equal integers start at the same stride and overlap, as in CuTe. Throws
/// Error{invalid_layout} if `order` is nested otherwise, Error{unsupported} if symbols in it have
/// no certain order. Costs n^2 for n leaves of `order`.
[[nodiscard]] Layout make_ordered_layout(const IntTuple& shape, const IntTuple& order);
/// Compact strides in the order of the layout's own; strides of 0 stay. Throws as
/// make_ordered_layout.
[[nodiscard]] Layout make_layout_like(const Layout& layout);
/// The same, but mode 0 is column-major and comes first. As in CuTe, a single mode after it stays a
/// tuple, and a shape with a symbol is column-major.
[[nodiscard]] Layout make_fragment_like(const Layout& layout);
/// The layout whose index is the colexicographic number of the coordinate: column_major(shape).
[[nodiscard]] Layout make_identity(const IntTuple& shape);
/// A tuple of these layouts, its modes. Throws Error{invalid_layout} for none.
[[nodiscard]] Layout make_layout(std::span<const Layout> modes);
[[nodiscard]] Layout make_layout(std::initializer_list<Layout> modes);

// Operations on the modes of a layout alone; a leaf is its own only mode. Modes are counted from 0;
// one that is not there, or an empty choice, is Error{invalid_layout}. The cost grows with the
// number of leaves.

/// The mode at the end of a path: get(layout, {1, 0}) is mode 0 of mode 1.
[[nodiscard]] Layout get(const Layout& layout, std::span<const std::size_t> path);
[[nodiscard]] Layout get(const Layout& layout, std::initializer_list<std::size_t> path);
/// A tuple of the modes chosen, also if it is only one.
[[nodiscard]] Layout select(const Layout& layout, std::span<const std::size_t> modes);
[[nodiscard]] Layout select(const Layout& layout, std::initializer_list<std::size_t> modes);
/// A tuple of the modes begin, ..., end - 1.
[[nodiscard]] Layout take(const Layout& layout, std::size_t begin, std::size_t end);
/// The modes begin, ..., end - 1 become one mode, a tuple.
[[nodiscard]] Layout group(const Layout& layout, std::size_t begin, std::size_t end);
/// With one more mode after the others, or before them.
[[nodiscard]] Layout append(const Layout& layout, const Layout& mode);
[[nodiscard]] Layout prepend(const Layout& layout, const Layout& mode);
/// With copies of `padding` up to `rank` modes, at most 1024. Throws Error{invalid_layout} if there
/// are more already.
[[nodiscard]] Layout append(const Layout& layout, std::size_t rank, const Layout& padding = {});
[[nodiscard]] Layout prepend(const Layout& layout, std::size_t rank, const Layout& padding = {});
/// With `mode` in place of mode i.
[[nodiscard]] Layout replace(const Layout& layout, std::size_t i, const Layout& mode);
/// A tuple of all leaves; a leaf stays one.
[[nodiscard]] Layout flatten(const Layout& layout);
/// The modes nested as `profile`, whose integers do not matter. Throws Error{invalid_layout} unless
/// it has as many leaves.
[[nodiscard]] Layout unflatten(const Layout& layout, const IntTuple& profile);

class Tiler;
/// True if no tile of logical_divide(column_major(shape), tiler) overhangs. As in CuTe, a tuple by
/// an integer or layout is divided leaf by leaf: this can be false though the size is a multiple.
/// False if the tiler has more modes than the shape. Throws as ceil_div and complement.
[[nodiscard]] bool evenly_divides(const IntTuple& shape, const Tiler& tiler);

[[nodiscard]] std::size_t rank(const Layout& layout) noexcept;
[[nodiscard]] std::size_t depth(const Layout& layout) noexcept;  ///< 0 for a leaf
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

template <>
struct std::hash<tilejit::Mode> {
  std::size_t operator()(const tilejit::Mode& mode) const noexcept {
    return tilejit::detail::hash_combine(mode.extent.hash(), mode.stride.hash());
  }
};
template <>
struct std::hash<tilejit::Layout> {
  std::size_t operator()(const tilejit::Layout& layout) const noexcept {
    return layout.modes().hash();
  }
};
