#include "tilejit/coordinate_layout.hpp"

#include <algorithm>
#include <charconv>
#include <map>

#include "core/text.hpp"
#include "layout/dim_function.hpp"
#include "layout/modes.hpp"
#include "layout/nested_modes.hpp"

namespace tilejit {
namespace {

using Path = std::vector<std::size_t>;

/// The step as a symbol of Dim::symbols: the innermost mode comes first, as in the text of a
/// stride.
std::string symbol_of(const Path& path) {
  std::string symbol;
  for (auto mode = path.rbegin(); mode != path.rend(); ++mode)
    symbol += '@' + std::to_string(*mode);
  return symbol;
}

Path path_of(std::string_view symbol) {
  Path path;
  const char* const end = symbol.data() + symbol.size();
  for (const char* at = symbol.data(); at != end;) {
    std::size_t mode = 0;
    at = std::from_chars(at + 1, end, mode).ptr;
    path.push_back(mode);
  }
  std::ranges::reverse(path);
  return path;
}

IntTuple steps_of(const IntTuple& shape, Path& path) {
  if (shape.is_leaf()) return coordinate_stride({1, path});
  auto result = IntTuple::empty_tuple();
  std::size_t i = 0;
  shape.for_each_mode([&](const IntTuple& mode) {
    path.push_back(i++);
    result.append(steps_of(mode, path));
    path.pop_back();
  });
  return result;
}

/// The distance from the origin along each path.
using Distances = std::map<Path, std::int64_t>;

[[noreturn]] void refuse_strides(const Layout& layout) {
  throw Error(ErrorCode::invalid_layout,
              "the strides of " + core::shortened(to_string(layout)) +
                  " are no coordinate: use steps of modes that are not in one another, such as "
                  "1@0 and 1@1");
}

Distances distances_at(const Layout& layout, const Coordinate& coordinate) {
  Distances distances;
  for (const Mode& leaf : layout.leaves()) {
    const auto step = coordinate_step(leaf.stride);
    if (!step && !leaf.stride.is(0)) refuse_strides(layout);
    if (step) distances[step->path] = 0;
  }
  for (auto& [path, distance] : distances) {
    const Layout along = layout.modes().map([&own = path](const Mode& leaf) {
      const auto step = coordinate_step(leaf.stride);
      return Mode{leaf.extent, step && step->path == own ? step->steps : Dim(0)};
    });
    distance = along(coordinate);
  }
  return distances;
}

/// The distances below the first `level` modes of their paths, as a coordinate.
Coordinate nested(const Distances& distances, std::size_t level, const Layout& layout) {
  if (distances.size() == 1 && distances.begin()->first.size() == level)
    return distances.begin()->second;
  std::map<std::size_t, Distances> modes;
  for (const auto& [path, distance] : distances) {
    if (path.size() == level) refuse_strides(layout);
    modes[path[level]][path] = distance;
  }
  auto result = Coordinate::empty_tuple();
  for (std::size_t i = 0; i <= modes.rbegin()->first; ++i) {
    const auto mode = modes.find(i);
    result.append(mode == modes.end() ? Coordinate(0) : nested(mode->second, level + 1, layout));
  }
  return result;
}

}  // namespace

Dim coordinate_stride(const CoordinateStep& step) {
  const std::string symbol = symbol_of(step.path);
  if (layout::is_basis_text(symbol)) return step.steps * Dim(symbol);
  throw Error(ErrorCode::invalid_layout,
              "a step of a coordinate goes along 1 to 8 modes, each up to 1023");
}

std::optional<CoordinateStep> coordinate_step(const Dim& stride) {
  const auto symbols = stride.symbols();
  if (symbols.empty() || !layout::is_basis(symbols.front())) return std::nullopt;
  return CoordinateStep{*Dim::divide(stride, Dim(symbols.front())), path_of(symbols.front())};
}

bool has_coordinate_strides(const Layout& layout) {
  return std::ranges::any_of(
      layout.leaves(), [](const Mode& leaf) { return coordinate_step(leaf.stride).has_value(); });
}

Layout coordinate_layout(const IntTuple& shape) {
  if (shape.is_leaf()) return {shape, coordinate_stride({1, {0}})};
  Path path;
  return {shape, steps_of(shape, path)};
}

Coordinate coordinate_at(const Layout& layout, const Coordinate& coordinate) {
  const Distances distances = distances_at(layout, coordinate);
  if (distances.empty()) refuse_strides(layout);
  return nested(distances, 0, layout);
}

void layout::refuse_coordinates(const Layout& layout, const char* operation) {
  if (!has_coordinate_strides(layout)) return;
  throw Error(ErrorCode::unsupported, std::string(operation) + " needs strides in memory, found " +
                                          core::shortened(to_string(layout)));
}

}  // namespace tilejit
