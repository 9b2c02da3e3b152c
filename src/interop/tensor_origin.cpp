#include "interop/tensor_origin.hpp"

#include <numeric>

#include "layout/checked.hpp"

namespace tilejit::interop {
namespace {

void append_paths(const Coordinate& coordinate, std::vector<std::size_t>& path, Paths& paths) {
  if (coordinate.is_leaf()) return paths.push_back(path);
  std::size_t i = 0;
  coordinate.for_each_mode([&](const Coordinate& mode) {
    path.push_back(i++);
    append_paths(mode, path, paths);
    path.pop_back();
  });
}

}  // namespace

Paths leaf_paths(const Coordinate& coordinate) {
  Paths paths;
  std::vector<std::size_t> path;
  append_paths(coordinate, path, paths);
  return paths;
}

Layout along(const Layout& layout, const std::vector<std::size_t>& path) {
  if (path.empty()) return layout;
  return layout.modes().map([&](const Mode& leaf) {
    const auto step = coordinate_step(leaf.stride);
    return Mode{leaf.extent, step && step->path == path ? step->steps : Dim(0)};
  });
}

Coordinate moved(const Coordinate& origin, const Layout& layout, const Coordinate& coordinate) {
  const Paths paths = leaf_paths(origin);
  auto path = paths.begin();
  return origin.map([&](const CoordinateLeaf& leaf) {
    return CoordinateLeaf(layout::checked_add(leaf.value(), along(layout, *path++)(coordinate)));
  });
}

std::int64_t divisor(const Layout& layout, const Dim& at) {
  const auto leaves = layout.leaves();
  if (leaves.size() == 1) return (at * leaves[0].stride).factor();
  std::int64_t result = 0;
  for (const Mode& leaf : leaves) {
    if (!leaf.extent.is(1)) result = std::gcd(result, leaf.stride.factor());
  }
  return result;
}

}  // namespace tilejit::interop
