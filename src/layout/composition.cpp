#include "core/text.hpp"
#include "layout/modes.hpp"
#include "tilejit/coordinate_layout.hpp"
#include "tilejit/error.hpp"
#include "tilejit/layout_algebra.hpp"

namespace tilejit {
namespace {

using layout::Modes;

std::string text_of(const Mode& mode) {
  return to_string(mode.extent) + ":" + to_string(mode.stride);
}

bool is_known(const Dim& a, const Dim& b) {
  return a.is_known() && b.is_known();
}

/// A layout on the left, to be composed with the leaves of another. If extents or strides are
/// unknown, conditions that cannot be checked are assumed to hold, as in CuTe.
class Composer {
 public:
  Composer(const Layout& a, Exactness exactness) : a_(opened(a.leaves())), exactness_(exactness) {
    for (std::size_t i = 0; i < a_.size(); ++i) reach_.push_back(0);
  }

  /// Keeps the nesting of `b`. A leaf becomes a tuple if `a` splits it.
  Nested<Mode> compose(const Nested<Mode>& b) {
    return b.split([this](const Mode& leaf, Modes& out) { compose_leaf(leaf, out); });
  }

  /// Appends at least one mode to `out`.
  void compose_leaf(const Mode& b, Modes& out) {
    if (b.stride.is(0)) return out.push_back(b);
    const std::size_t before = out.size();
    Dim extent = b.extent, stride = b.stride;
    for (std::size_t i = 0; i + 1 < a_.size(); ++i) {
      const Mode& a = a_[i];
      check_stride(stride, b, a);
      const Dim count = count_of(a.extent, stride);
      if (!count.is(1) && !extent.is(1)) {
        const Dim taken = min(count, extent);
        check_extent(extent, taken, b, a);
        out.push_back({taken, stride * a.stride});
        extent = exact_div(extent, taken);
        check_reach(i, taken, stride, b);
        if (!extent.is(1) && is_known(a.extent, stride) && a.extent.value() % stride.value() != 0) {
          refuse_inexact(b, a);
        }
      }
      stride = stride_div(stride, a.extent);
    }
    if (out.size() == before || !extent.is(1)) {
      out.push_back({extent, stride * a_.back().stride});
    }
  }

 private:
  /// The modes coalesced so that the function stays the same beyond the domain too: a last extent
  /// of 1 counts as 2. Returns at least one mode.
  static Modes opened(std::span<const Mode> modes) {
    Modes result = layout::coalesced(modes.first(modes.size() - 1));
    const Mode& last = modes.back();
    layout::append_coalesced(result, {last.extent.is(1) ? Dim(2) : last.extent, last.stride});
    return result;
  }

  /// The number of steps of `stride` that start inside the extent. For symbols in exact mode,
  /// `substitute` has no value for it unless one divides the other.
  [[nodiscard]] Dim count_of(const Dim& extent, const Dim& stride) const {
    const bool may_round = exactness_ == Exactness::as_cute || is_known(extent, stride);
    return may_round ? ceil_div(extent, stride) : stride_div(extent, stride);
  }

  static void check_stride(const Dim& stride, const Mode& b, const Mode& a) {
    if (!is_known(stride, a.extent) || stride.value() < a.extent.value()) return;
    if (stride.value() % a.extent.value() == 0) return;
    throw Error(ErrorCode::invalid_layout,
                "composition: the stride of the mode " + text_of(b) +
                    " on the right and the mode " + text_of(a) +
                    " on the left do not divide; use a stride that is a multiple of " +
                    to_string(a.extent) + ", or smaller");
  }
  static void check_extent(const Dim& rest, const Dim& taken, const Mode& b, const Mode& a) {
    if (!is_known(rest, taken) || rest.value() % taken.value() == 0) return;
    throw Error(ErrorCode::invalid_layout,
                "composition: of the mode " + text_of(b) + " on the right " + to_string(rest) +
                    " coordinates are to be split by " + to_string(taken) + " at the mode " +
                    text_of(a) + " on the left; use an extent that this divides");
  }
  /// The leaves of `b` are composed separately; together they must not carry from mode i of `a`
  /// into the next one.
  void check_reach(std::size_t i, const Dim& taken, const Dim& stride, const Mode& b) {
    if (exactness_ == Exactness::as_cute) return;
    if (!is_known(taken, stride) || !a_[i].extent.is_known()) return;
    const std::int64_t own = (taken.value() - 1) * stride.value();  // below the extent
    if (own >= a_[i].extent.value() - reach_[i]) refuse_inexact(b, a_[i]);
    reach_[i] += own;
  }
  void refuse_inexact(const Mode& b, const Mode& a) const {
    if (exactness_ == Exactness::as_cute) return;
    throw Error(ErrorCode::invalid_layout,
                "composition: the mode " + text_of(b) + " on the right runs over the end of the " +
                    "mode " + text_of(a) + " on the left, and no layout is that function; ask " +
                    "for CuTe's answer (as_cute) if it is wanted");
  }

  Modes a_;
  SmallVector<std::int64_t, 8> reach_;  // reached by all leaves so far, for each mode of `a`
  Exactness exactness_;
};

/// A coordinate step along a mode of `a` is composed with that mode alone.
Layout composed_by_coordinates(const Layout& a, const Layout& b, Exactness exactness) {
  const auto compose_leaf = [&](const Mode& leaf, Modes& out) {
    const auto step = coordinate_step(leaf.stride);
    if (!step) return Composer(a, exactness).compose_leaf(leaf, out);
    Composer(get(a, step->path), exactness).compose_leaf({leaf.extent, step->steps}, out);
  };
  return b.modes().split(compose_leaf);
}

}  // namespace

Layout composition(const Layout& a, const Layout& b, Exactness exactness) {
  layout::check_extents(a, "composition");
  layout::check_extents(b, "composition");
  if (has_coordinate_strides(b)) return composed_by_coordinates(a, b, exactness);
  return Composer(a, exactness).compose(b.modes());
}

Layout composition(const Layout& a, const Tiler& tiler, Exactness exactness) {
  if (tiler.is_underscore()) return a;
  if (const Layout* b = tiler.layout()) return composition(a, *b, exactness);
  if (const std::int64_t* n = tiler.extent()) return composition(a, Layout(*n, 1), exactness);
  layout::check_rank("tiler", tiler.modes()->size(), a);
  std::vector<Layout> modes;
  for (std::size_t i = 0; i < tiler.modes()->size(); ++i) {
    modes.push_back(composition(mode(a, i), (*tiler.modes())[i], exactness));
  }
  return make_layout(modes);
}

}  // namespace tilejit
