#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "tilejit/layout_algebra.hpp"
#include "tilejit/layout_functions.hpp"

namespace tilejit {

/// CuTe's swizzle, a permutation of the indices from 0: `bits` bits of an index are xored onto as
/// many bits |shift| below them, or above them for a negative shift. The lower ones start at bit
/// `base`. Its own inverse. Text form `to_string`, inverse `parse_swizzle`.
class Swizzle {
 public:
  Swizzle() = default;  ///< the identity, Sw<0,0,0>
  /// Throws Error{invalid_layout} unless bits >= 0, base >= 0, |shift| >= bits and
  /// base + bits + |shift| <= 62.
  Swizzle(int bits, int base, int shift);

  [[nodiscard]] int bits() const noexcept { return bits_; }
  [[nodiscard]] int base() const noexcept { return base_; }
  [[nodiscard]] int shift() const noexcept { return shift_; }

  /// The bits that are xored onto others, and these others.
  [[nodiscard]] std::int64_t source_mask() const noexcept;
  [[nodiscard]] std::int64_t target_mask() const noexcept;
  /// The index must not be negative.
  [[nodiscard]] std::int64_t operator()(std::int64_t index) const noexcept;

  bool operator==(const Swizzle&) const = default;

 private:
  int bits_ = 0, base_ = 0, shift_ = 0;
};

/// "Sw<3,3,3>": bits, base, shift.
[[nodiscard]] std::string to_string(const Swizzle& swizzle);
/// Accepts "Sw<3,3,3>" and "S<3,3,3>". Throws Error{invalid_layout} with the position of the
/// mistake.
[[nodiscard]] Swizzle parse_swizzle(std::string_view text);
/// The swizzle of elements n times as wide, or n times as narrow; n is a power of two. Bits that
/// are lost in a wider element are no longer swizzled. Throws Error{invalid_argument} for another
/// n.
[[nodiscard]] Swizzle upcast(const Swizzle& swizzle, std::int64_t n);
[[nodiscard]] Swizzle downcast(const Swizzle& swizzle, std::int64_t n);

/// The function swizzle(offset + layout(c)), in elements. A swizzle of 0 bits with offset 0 is the
/// layout alone, in text too. A value type; text form `to_string`, inverse `parse_composed_layout`.
class ComposedLayout {
 public:
  ComposedLayout() = default;              ///< 1:0
  ComposedLayout(Layout layout) noexcept;  // NOLINT: a layout is one without a swizzle
  /// Throws Error{invalid_layout} if `offset` is negative.
  ComposedLayout(Swizzle swizzle, std::int64_t offset, Layout layout);

  [[nodiscard]] const Swizzle& swizzle() const noexcept { return swizzle_; }
  [[nodiscard]] std::int64_t offset() const noexcept { return offset_; }
  [[nodiscard]] const Layout& layout() const noexcept { return layout_; }
  [[nodiscard]] bool is_plain() const noexcept { return swizzle_.bits() == 0 && offset_ == 0; }

  /// As the layout inside, and with its errors, except that coordinates beyond the domain go on
  /// along the last mode: those of an inverse are swizzled, and need not stay in it.
  [[nodiscard]] std::int64_t operator()(std::int64_t coordinate) const;
  [[nodiscard]] std::int64_t operator()(const Coordinate& coordinate) const;

  bool operator==(const ComposedLayout&) const = default;

 private:
  Swizzle swizzle_;
  std::int64_t offset_ = 0;
  Layout layout_;
};

/// "Sw<3,3,3> o 0 o (8,8):(8,1)".
[[nodiscard]] std::string to_string(const ComposedLayout& layout);
/// A layout alone is accepted too. Throws Error{invalid_layout} with the position of the mistake.
[[nodiscard]] ComposedLayout parse_composed_layout(std::string_view text);

/// What a coordinate with `_` leaves: the same swizzle, a larger offset, the modes at `_`. Throws
/// as `slice` of the layout inside.
[[nodiscard]] ComposedLayout slice(const Coordinate& coordinate, const ComposedLayout& layout);

/// The functions below act on the layout inside, and throw what the same operation throws there.
[[nodiscard]] ComposedLayout composition(const ComposedLayout& a, const Tiler& b,
                                         Exactness exactness = Exactness::exact);
[[nodiscard]] ComposedLayout logical_divide(const ComposedLayout& layout, const Tiler& tiler);
[[nodiscard]] ComposedLayout zipped_divide(const ComposedLayout& layout, const Tiler& tiler);
[[nodiscard]] ComposedLayout tiled_divide(const ComposedLayout& layout, const Tiler& tiler);
[[nodiscard]] ComposedLayout flat_divide(const ComposedLayout& layout, const Tiler& tiler);
[[nodiscard]] ComposedLayout tile_to_shape(const ComposedLayout& block, const IntTuple& shape,
                                           TileOrder order = TileOrder::left);
[[nodiscard]] ComposedLayout tile_to_shape(const ComposedLayout& block, const IntTuple& shape,
                                           const IntTuple& order);
/// For wider and narrower elements, n a power of two. Throws Error{invalid_layout} if n does not
/// divide the offset.
[[nodiscard]] ComposedLayout upcast(const ComposedLayout& layout, std::int64_t n);
[[nodiscard]] ComposedLayout downcast(const ComposedLayout& layout, std::int64_t n);

/// R(c) = a(b(c)): the swizzle moves to the left of `a`. Throws Error{invalid_layout} if that is no
/// swizzle (it is one for certain only if `a` keeps the swizzled bits apart from all others), and
/// Error{unsupported} for an offset other than 0, symbols or '?'.
[[nodiscard]] ComposedLayout composition(const Layout& a, const ComposedLayout& b);
/// As for layouts: layout(R(i)) == i, and L(layout(i)) == i if it is injective. Throws what the
/// inverse of the layout inside and the composition of that with the swizzle throw.
[[nodiscard]] ComposedLayout right_inverse(const ComposedLayout& layout);
[[nodiscard]] ComposedLayout left_inverse(const ComposedLayout& layout);

}  // namespace tilejit

/// Equal values have equal hashes. The cost is that of the text form.
template <>
struct std::hash<tilejit::Swizzle> {
  std::size_t operator()(const tilejit::Swizzle& swizzle) const {
    return std::hash<std::string>()(to_string(swizzle));
  }
};
template <>
struct std::hash<tilejit::ComposedLayout> {
  std::size_t operator()(const tilejit::ComposedLayout& layout) const {
    return std::hash<std::string>()(to_string(layout));
  }
};
