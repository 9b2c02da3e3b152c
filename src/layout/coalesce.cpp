#include <algorithm>

#include "core/text.hpp"
#include "layout/modes.hpp"
#include "tilejit/error.hpp"
#include "tilejit/layout_algebra.hpp"

namespace tilejit {

namespace layout {

void check_extents(const Layout& layout, const char* operation) {
  for (const Mode& leaf : layout.leaves()) {
    if (!leaf.extent.is(0)) continue;
    throw Error(ErrorCode::invalid_layout, std::string(operation) +
                                               " needs extents of at least 1, found " +
                                               core::shortened(to_string(layout)));
  }
}

Layout flat_layout(std::span<const Mode> modes) {
  if (modes.empty()) return {1, 0};
  if (modes.size() == 1) return Nested<Mode>(modes[0]);
  return Nested<Mode>::flat(modes);
}

bool continues(const Mode& a, const Mode& b) {
  if (a.extent.symbols().size() + b.extent.symbols().size() > Dim::kMaxSymbols) return false;
  if (a.extent.is_unknown() || b.extent.is_unknown()) return false;
  if (a.extent.is_known() && a.stride.is_known()) {
    std::int64_t end = 0;
    return b.stride.is_known() &&
           !__builtin_mul_overflow(a.extent.factor(), a.stride.factor(), &end) &&
           end == b.stride.factor();
  }
  if (a.stride.is(0)) return b.stride.is(0);
  const auto steps = Dim::divide(b.stride, a.stride);
  return steps && steps->same_value(a.extent);
}

void append_coalesced(Modes& modes, const Mode& next) {
  if (next.extent.is(1)) return;
  if (!modes.empty() && continues(modes.back(), next)) {
    modes.back().extent = modes.back().extent * next.extent;
  } else {
    modes.push_back(next);
  }
}

Modes coalesced(std::span<const Mode> modes) {
  Modes result;
  for (const Mode& mode : modes) append_coalesced(result, mode);
  return result;
}

void check_rank(const char* what, std::size_t modes, const Layout& layout) {
  if (modes <= rank(layout)) return;
  throw Error(ErrorCode::invalid_layout,
              std::string("the ") + what + " has " + std::to_string(modes) + " modes, the layout " +
                  core::shortened(to_string(layout)) + " only " + std::to_string(rank(layout)));
}

}  // namespace layout

Layout coalesce(const Layout& layout) {
  layout::check_extents(layout, "coalesce");
  return layout::flat_layout(layout::coalesced(layout.leaves()));
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
