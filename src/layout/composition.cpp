#include "core/text.hpp"
#include "layout/checked.hpp"
#include "layout/known_modes.hpp"
#include "tilejit/layout_algebra.hpp"

namespace tilejit {
namespace {

using layout::ceil_div;
using layout::checked_multiply;
using layout::KnownMode;
using layout::KnownModes;

std::string text_of(const KnownMode& mode) {
  return std::to_string(mode.extent) + ":" + std::to_string(mode.stride);
}

/// One layout on the left, composed with the leaves of another.
class Composer {
 public:
  Composer(const Layout& a, Exactness exactness)
      : a_(opened(layout::known_modes(a, "composition"))), exactness_(exactness) {
    for (std::size_t i = 0; i < a_.size(); ++i) reach_.push_back(0);
  }

  /// The nesting of `b` is kept; a leaf becomes a tuple where `a` splits it.
  Nested<Mode> compose(const Nested<Mode>& b) {
    if (b.is_leaf()) return compose_leaf({b.leaf().extent.value(), b.leaf().stride.value()});
    auto result = Nested<Mode>::empty_tuple();
    b.for_each_mode([&](const Nested<Mode>& mode) { result.append(compose(mode)); });
    return result;
  }

 private:
  /// Coalesced such that the function is the same beyond the domain too: a last extent of 1 counts
  /// as 2. At least one mode.
  static KnownModes opened(KnownModes modes) {
    if (modes.back().extent == 1) modes.back().extent = 2;
    KnownModes result = layout::coalesced(modes);
    if (result.empty()) result.push_back({1, 0});
    return result;
  }

  Nested<Mode> compose_leaf(const KnownMode& b) {
    if (b.stride == 0) return Mode{b.extent, 0};
    KnownModes emitted;
    std::int64_t extent = b.extent, stride = b.stride;
    for (std::size_t i = 0; i + 1 < a_.size(); ++i) {
      const KnownMode& a = a_[i];
      if (stride % a.extent != 0 && stride >= a.extent) refuse_stride(b, a);
      const std::int64_t count = ceil_div(a.extent, stride);
      if (count > 1 && extent > 1) {
        const std::int64_t taken = std::min(count, extent);
        if (extent % taken != 0) refuse_extent(b, a, extent, taken);
        emitted.push_back({taken, checked_multiply(stride, a.stride)});
        extent /= taken;
        note_reach(i, (taken - 1) * stride, b);
        if (extent > 1 && count * stride != a.extent) refuse_inexact(b, a);
      }
      stride = ceil_div(stride, a.extent);
    }
    if (emitted.empty() || extent != 1) {
      emitted.push_back({extent, checked_multiply(stride, a_.back().stride)});
    }
    return layout::flat_layout(emitted).modes();
  }

  /// Leaves of `b` are composed apart; together they must not carry from one mode of `a` into the
  /// next.
  void note_reach(std::size_t i, std::int64_t reach, const KnownMode& b) {
    reach_[i] += reach;
    if (reach_[i] >= a_[i].extent) refuse_inexact(b, a_[i]);
  }

  [[noreturn]] static void refuse_stride(const KnownMode& b, const KnownMode& a) {
    throw Error(ErrorCode::invalid_layout,
                "composition: the stride of the mode " + text_of(b) +
                    " on the right and the mode " + text_of(a) +
                    " on the left do not divide; use a stride that is a multiple of " +
                    std::to_string(a.extent) + ", or smaller");
  }
  [[noreturn]] static void refuse_extent(const KnownMode& b, const KnownMode& a, std::int64_t rest,
                                         std::int64_t taken) {
    throw Error(ErrorCode::invalid_layout,
                "composition: of the mode " + text_of(b) + " on the right " + std::to_string(rest) +
                    " coordinates are to be split by " + std::to_string(taken) + " at the mode " +
                    text_of(a) + " on the left; use an extent that this divides");
  }
  void refuse_inexact(const KnownMode& b, const KnownMode& a) const {
    if (exactness_ == Exactness::as_cute) return;
    throw Error(ErrorCode::invalid_layout,
                "composition: the mode " + text_of(b) +
                    " on the right runs over the end of the "
                    "mode " +
                    text_of(a) +
                    " on the left, and no layout is that function; ask for "
                    "CuTe's answer (as_cute) if it is wanted");
  }

  KnownModes a_;
  SmallVector<std::int64_t, 8> reach_;  // of all leaves so far, in each mode of `a`
  Exactness exactness_;
};

[[noreturn]] void refuse_rank(const Tiler& tiler, const Layout& layout) {
  throw Error(ErrorCode::invalid_layout,
              "the tiler has " + std::to_string(tiler.modes()->size()) + " modes, the layout " +
                  core::shortened(to_string(layout)) + " only " + std::to_string(rank(layout)));
}

}  // namespace

Layout composition(const Layout& a, const Layout& b, Exactness exactness) {
  (void)layout::known_modes(b, "composition");
  return Composer(a, exactness).compose(b.modes());
}

Layout composition(const Layout& a, const Tiler& tiler, Exactness exactness) {
  if (tiler.is_underscore()) return a;
  if (const Layout* b = tiler.layout()) return composition(a, *b, exactness);
  if (const std::int64_t* n = tiler.extent()) return composition(a, Layout(*n, 1), exactness);
  if (tiler.modes()->size() > rank(a)) refuse_rank(tiler, a);
  std::vector<Layout> modes;
  for (std::size_t i = 0; i < tiler.modes()->size(); ++i) {
    modes.push_back(composition(mode(a, i), (*tiler.modes())[i], exactness));
  }
  return layout::tuple_of(modes);
}

}  // namespace tilejit
