#pragma once

#include <vector>

#include "layout/nested_modes.hpp"
#include "tilejit/coordinate.hpp"

namespace tilejit::layout {

[[noreturn]] void refuse_underscore(const Coordinate& coordinate);
/// The modes of a tuple are not those of the layout.
[[noreturn]] void refuse_rank(const Coordinate& coordinate, const Nested<Mode>& modes);

/// Calls `each(mode of the coordinate, mode of the layout)`. Throws Error{invalid_layout} unless
/// both are tuples of one rank.
template <typename Each>
void for_each_pair(const Coordinate& coordinate, const Nested<Mode>& modes, Each each) {
  if (modes.is_leaf() || coordinate.rank() != modes.rank()) refuse_rank(coordinate, modes);
  const std::vector<Coordinate> coordinates = modes_of(coordinate);
  auto next = coordinates.begin();
  modes.for_each_mode([&](const Nested<Mode>& mode) { each(*next++, mode); });
}

}  // namespace tilejit::layout
