#include <algorithm>

#include "core/text.hpp"
#include "layout/checked.hpp"
#include "layout/known_modes.hpp"
#include "tilejit/layout_algebra.hpp"

namespace tilejit {

namespace layout {

KnownModes known_modes(const Layout& layout, const char* operation) {
  KnownModes modes;
  for (const Mode& leaf : layout.leaves()) {
    if (!leaf.extent.is_known() || !leaf.stride.is_known()) {
      throw Error(ErrorCode::unsupported, std::string(operation) + " needs known extents and " +
                                              "strides, found " +
                                              core::shortened(to_string(layout)));
    }
    if (leaf.extent.is(0)) {
      throw Error(ErrorCode::invalid_layout, std::string(operation) +
                                                 " needs extents of at least " + "1, found " +
                                                 core::shortened(to_string(layout)));
    }
    modes.push_back({leaf.extent.value(), leaf.stride.value()});
  }
  return modes;
}

Layout flat_layout(const KnownModes& modes) {
  if (modes.empty()) return {1, 0};
  const auto leaf = [](const KnownMode& mode) {
    return Nested<Mode>(Mode{mode.extent, mode.stride});
  };
  if (modes.size() == 1) return leaf(modes[0]);
  auto tuple = Nested<Mode>::empty_tuple();
  for (const KnownMode& mode : modes) tuple.append(leaf(mode));
  return tuple;
}

void append_coalesced(KnownModes& modes, KnownMode next) {
  if (next.extent == 1) return;
  if (!modes.empty()) {
    KnownMode& last = modes.back();
    std::int64_t end = 0;
    if (!__builtin_mul_overflow(last.extent, last.stride, &end) && end == next.stride) {
      last.extent = checked_multiply(last.extent, next.extent);
      return;
    }
  }
  modes.push_back(next);
}

KnownModes coalesced(const KnownModes& modes) {
  KnownModes result;
  for (const KnownMode& mode : modes) append_coalesced(result, mode);
  return result;
}

Layout tuple_of(std::span<const Layout> modes) {
  auto tuple = Nested<Mode>::empty_tuple();
  for (const Layout& mode : modes) tuple.append(mode.modes());
  return tuple;
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) noexcept {
  return a / b + (a % b != 0);
}

}  // namespace layout

Layout coalesce(const Layout& layout) {
  return layout::flat_layout(layout::coalesced(layout::known_modes(layout, "coalesce")));
}

Layout coalesce(const Layout& layout, const IntTuple& profile) {
  if (profile.is_leaf()) return coalesce(layout);
  if (rank(profile) > rank(layout)) {
    throw Error(ErrorCode::invalid_layout,
                "the profile has " + std::to_string(rank(profile)) + " modes, the layout " +
                    core::shortened(to_string(layout)) + " only " + std::to_string(rank(layout)));
  }
  std::vector<Layout> modes;
  for (std::size_t i = 0; i < rank(layout); ++i) {
    const Layout own = mode(layout, i);
    modes.push_back(i < rank(profile) ? coalesce(own, mode(profile, i)) : own);
  }
  return layout::tuple_of(modes);
}

Layout filter_zeros(const Layout& layout) {
  return layout.modes().map([](const Mode& leaf) {
    return Mode{leaf.stride.is(0) ? Dim(1) : leaf.extent, leaf.stride};
  });
}

Layout filter(const Layout& layout) {
  return coalesce(filter_zeros(layout));
}

}  // namespace tilejit
