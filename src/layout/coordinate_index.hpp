#pragma once

#include <string>
#include <vector>

#include "layout/nested_modes.hpp"
#include "tilejit/indexing.hpp"

namespace tilejit::layout {

/// The layout's index at `coordinate`, which may lie beyond the domain: the last mode continues.
[[nodiscard]] std::int64_t open_index(const Layout& layout, std::int64_t coordinate);
[[nodiscard]] std::int64_t open_index(const Layout& layout, const Coordinate& coordinate);

[[noreturn]] void refuse_underscore(const Coordinate& coordinate);
/// Reports that `coordinate` is a tuple, but not of the `wanted` modes of `what`; `wanted` is 0 if
/// `what` takes an integer.
[[noreturn]] void refuse_rank(const Coordinate& coordinate, const std::string& what,
                              std::size_t wanted);

[[nodiscard]] inline std::string text_of(const Nested<Mode>& modes) {
  return to_string(Layout(modes));
}
[[nodiscard]] inline std::string text_of(const IntTuple& shape) {
  return to_string(shape);
}

/// Calls `each(mode of coordinate, mode of other)` for each pair. Throws Error{invalid_layout}
/// unless both are tuples of the same rank.
template <typename Leaf, typename Each>
void for_each_pair(const Coordinate& coordinate, const Nested<Leaf>& other, Each each) {
  if (other.is_leaf()) refuse_rank(coordinate, text_of(other), 0);
  if (coordinate.rank() != other.rank()) refuse_rank(coordinate, text_of(other), other.rank());
  const std::vector<Coordinate> coordinates = modes_of(coordinate);
  auto next = coordinates.begin();
  other.for_each_mode([&](const Nested<Leaf>& mode) { each(*next++, mode); });
}

}  // namespace tilejit::layout
