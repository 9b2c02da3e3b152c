#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tilejit/layout.hpp"

namespace tilejit {

/// CuTe's layout algebra (CUTLASS, media/docs/cpp/cute/02_layout_algebra.md) at run time. All
/// functions are pure and thread-safe; their cost grows with the number of leaves, n, not with
/// sizes: n^2 at most. A request that has no answer because something does not divide is
/// Error{invalid_layout}, which names the modes; sizes beyond 2^63-1 are Error{unsupported}.
///
/// Leaves that are not known give results with "?", which keep divisors as CuTe DSL does, or with
/// functions of symbols, for `substitute` to fill in. Modes then merge, and extents of 1 go, only
/// if that is certain. What must divide is assumed to; `substitute` checks it as far as the
/// functions tell.

/// Composition by-mode: what is done to each mode of a layout. A tuple may be shorter than the
/// layout's rank, and nested.
class Tiler {
 public:
  Tiler(Underscore) {}  // NOLINT: the mode stays as it is
  Tiler(Layout layout) : is_(Is::layout), layout_(std::move(layout)) {}  // NOLINT
  /// The text form. Throws Error{invalid_layout} with the position of the mistake.
  Tiler(std::string_view text);                                      // NOLINT
  Tiler(const char* text) : Tiler(std::string_view(text)) {}         // NOLINT
  Tiler(const std::string& text) : Tiler(std::string_view(text)) {}  // NOLINT
  Tiler(std::nullptr_t) = delete;
  Tiler(std::integral auto extent)  // NOLINT: n
      : is_(Is::extent), extent_(static_cast<std::int64_t>(extent)) {}
  /// Throws Error{invalid_layout} if there is none.
  Tiler(std::initializer_list<Tiler> modes) : Tiler(std::vector<Tiler>(modes)) {}
  Tiler(std::vector<Tiler> modes);  // NOLINT

  [[nodiscard]] bool is_underscore() const noexcept { return is_ == Is::underscore; }
  [[nodiscard]] const std::int64_t* extent() const noexcept {
    return is_ == Is::extent ? &extent_ : nullptr;
  }
  [[nodiscard]] const Layout* layout() const noexcept {
    return is_ == Is::layout ? &layout_ : nullptr;
  }
  [[nodiscard]] const std::vector<Tiler>* modes() const noexcept {
    return is_ == Is::tuple ? &modes_ : nullptr;
  }

  bool operator==(const Tiler&) const = default;

 private:
  enum class Is : std::uint8_t { underscore, extent, layout, tuple };
  // Unused members have their defaults, so that == may compare all.
  Is is_ = Is::underscore;
  std::int64_t extent_ = 0;
  Layout layout_;
  std::vector<Tiler> modes_;
};

/// An integer, `_`, a layout, or a tuple of tilers, "<3:3,(2,4):(1,8),_>". In text a tuple without
/// strides, "(3,_)", is one of tilers too; parse_tiler(to_string(x)) == x. At most 64 levels of
/// nesting and 64 modes.
[[nodiscard]] std::string to_string(const Tiler& tiler);
/// Throws Error{invalid_layout} with the position of the mistake.
[[nodiscard]] Tiler parse_tiler(std::string_view text);

/// The same function of 0 <= i < size(layout), flat, with as few modes as possible.
[[nodiscard]] Layout coalesce(const Layout& layout);
/// The same at each leaf of `profile`, whose integers do not matter; modes beyond it stay.
[[nodiscard]] Layout coalesce(const Layout& layout, const IntTuple& profile);
/// Extents of stride-0 leaves become 1.
[[nodiscard]] Layout filter_zeros(const Layout& layout);
/// coalesce(filter_zeros(layout)): what the layout reaches, each element once.
[[nodiscard]] Layout filter(const Layout& layout);

/// What composition does if CuTe's answer R is not A(B(c)) for every coordinate c.
enum class Exactness {
  exact,    ///< refuse: if a carry from mode to mode would be lost, even if by chance it is 0;
            ///< with unknown extents or strides, carries between modes of b are not seen
  as_cute,  ///< answer as CuTe does
};
/// R(c) = a(b(c)), with the shape of `b`, its leaves split if `a` needs that. The last mode of `a`
/// extends beyond its domain.
[[nodiscard]] Layout composition(const Layout& a, const Layout& b,
                                 Exactness exactness = Exactness::exact);
[[nodiscard]] inline Layout composition(const Layout& a, const char* b,
                                        Exactness exactness = Exactness::exact) {
  return composition(a, Layout(b), exactness);
}
[[nodiscard]] Layout composition(const Layout& a, std::integral auto n,
                                 Exactness exactness = Exactness::exact) {
  return composition(a, Layout(n, 1), exactness);
}
/// By mode. Modes of `a` beyond the tiler are dropped.
[[nodiscard]] Layout composition(const Layout& a, const Tiler& tiler,
                                 Exactness exactness = Exactness::exact);

/// A layout of what `layout` leaves out of 0 <= i < cotarget, in ascending strides. A tuple is
/// divided mode by mode, as CuTe does.
[[nodiscard]] Layout complement(const Layout& layout, const IntTuple& cotarget);
/// Up to the cosize of filter(layout).
[[nodiscard]] Layout complement(const Layout& layout);

/// (tile, rest) of the layout, or of each mode for a tuple. A tile may overhang the end. Divisions
/// and products answer as CuTe does: if composition(layout, tiler) is refused as inexact, mode 0 is
/// what Exactness::as_cute gives, and a product may reach an element twice.
[[nodiscard]] Layout logical_divide(const Layout& layout, const Tiler& tiler);
/// ((tiles...), (rests..., untouched modes...)).
[[nodiscard]] Layout zipped_divide(const Layout& layout, const Tiler& tiler);
/// ((tiles...), rest, rest, ...).
[[nodiscard]] Layout tiled_divide(const Layout& layout, const Tiler& tiler);
/// (tile, tile, ..., rest, rest, ...).
[[nodiscard]] Layout flat_divide(const Layout& layout, const Tiler& tiler);

/// (layout, its repetitions in the order of the tiler), or the same for each mode if the tiler is a
/// tuple.
[[nodiscard]] Layout logical_product(const Layout& layout, const Tiler& tiler);
[[nodiscard]] Layout zipped_product(const Layout& layout, const Tiler& tiler);
[[nodiscard]] Layout tiled_product(const Layout& layout, const Tiler& tiler);
[[nodiscard]] Layout flat_product(const Layout& layout, const Tiler& tiler);
/// Mode i of the result is (mode i of the block, mode i of the tiler).
[[nodiscard]] Layout blocked_product(const Layout& block, const Layout& tiler);
/// Mode i of the result is (mode i of the tiler, mode i of the block).
[[nodiscard]] Layout raked_product(const Layout& block, const Layout& tiler);

/// layout(R(i)) == i for 0 <= i < size(R), with R as large as the layout's strides 1, 1*s, ...
/// allow.
[[nodiscard]] Layout right_inverse(const Layout& layout);
/// L(layout(i)) == i if the layout is injective; else, as in CuTe, some other layout.
[[nodiscard]] Layout left_inverse(const Layout& layout);

}  // namespace tilejit

template <>
struct std::hash<tilejit::Tiler> {
  std::size_t operator()(const tilejit::Tiler& tiler) const {
    return std::hash<std::string>()(tilejit::to_string(tiler));
  }
};
