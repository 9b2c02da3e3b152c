#include "layout/checked.hpp"
#include "layout/coordinate_index.hpp"

namespace tilejit {
namespace {

/// Calls `each(leaf of the coordinate, part of the layout that the leaf selects)`.
template <typename Each>
void for_each_part(const Coordinate& coordinate, const Nested<Mode>& modes, Each& each) {
  if (coordinate.is_leaf()) return each(coordinate.leaf(), modes);
  layout::for_each_pair(coordinate, modes, [&](const Coordinate& c, const Nested<Mode>& mode) {
    for_each_part(c, mode, each);
  });
}

[[noreturn]] void refuse_nothing_left(const char* operation, const Coordinate& coordinate,
                                      const char* advice) {
  throw Error(ErrorCode::invalid_layout, std::string(operation) + ": the coordinate " +
                                             layout::short_text(coordinate) + " leaves no mode; " +
                                             advice);
}

}  // namespace

Slice slice(const Coordinate& coordinate, const Layout& layout) {
  if (coordinate.is_leaf() && coordinate.leaf().is_underscore()) return {layout, 0};
  auto kept = Nested<Mode>::empty_tuple();
  std::int64_t offset = 0;
  const auto part = [&](const CoordinateLeaf& leaf, const Nested<Mode>& modes) {
    if (leaf.is_underscore()) return kept.append(modes);
    offset = layout::checked_add(offset, Layout(modes)(leaf.value()));
  };
  for_each_part(coordinate, layout.modes(), part);
  if (kept.rank() == 0) refuse_nothing_left("slice", coordinate, "use the layout itself, or a '_'");
  return {kept, offset};
}

Layout dice(const Coordinate& coordinate, const Layout& layout) {
  if (coordinate.is_leaf() && !coordinate.leaf().is_underscore()) return layout;
  auto kept = Nested<Mode>::empty_tuple();
  const auto part = [&](const CoordinateLeaf& leaf, const Nested<Mode>& modes) {
    if (!leaf.is_underscore()) kept.append(modes);
  };
  for_each_part(coordinate, layout.modes(), part);
  if (kept.rank() == 0) refuse_nothing_left("dice", coordinate, "use an integer in it");
  return kept;
}

}  // namespace tilejit
