#include "tilejit/indexing.hpp"

#include "layout/checked.hpp"
#include "layout/coordinate_index.hpp"
#include "layout/nested_modes.hpp"

namespace tilejit {
namespace {

using layout::checked_add;
using layout::checked_multiply;

[[noreturn]] void refuse_leaf(const Mode& leaf) {
  const std::string text = to_string(leaf.extent) + ":" + to_string(leaf.stride);
  if (leaf.extent.is(0)) {
    throw Error(ErrorCode::invalid_layout,
                "the mode " + text + " has no element; use extents of at least 1");
  }
  throw Error(ErrorCode::unsupported, "a coordinate needs known extents and strides, found " +
                                          core::shortened(text) + "; substitute its symbols");
}

void refuse_negative(std::int64_t number) {
  if (number >= 0) return;
  throw Error(ErrorCode::invalid_layout,
              "indices and coordinates are not negative, found " + std::to_string(number));
}

bool is_usable(const Mode& leaf) noexcept {
  return leaf.extent.is_known() && leaf.stride.is_known() && leaf.extent.factor() != 0;
}

std::int64_t extent_of(const Dim& extent) {
  if (!extent.is_known() || extent.is(0)) refuse_leaf({extent, 0});
  return extent.factor();
}

[[noreturn]] void refuse_outside(std::int64_t coordinate, const Layout& layout) {
  throw Error(ErrorCode::invalid_layout,
              "the coordinate " + std::to_string(coordinate) + " is outside of " +
                  core::shortened(to_string(layout)) + ", which has " + to_string(size(layout)));
}

/// Whether a coordinate may continue beyond the end of a mode.
enum class Domain { checked, open };

std::int64_t index_of_number(const Layout& layout, std::int64_t number, Domain domain) {
  refuse_negative(number);
  std::int64_t result = 0, left = number;
  const auto leaves = layout.leaves();
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (!is_usable(leaves[i])) refuse_leaf(leaves[i]);
    const std::int64_t extent = leaves[i].extent.factor();
    const bool is_last = i + 1 == leaves.size();
    if (is_last && domain == Domain::checked && left >= extent) refuse_outside(number, layout);
    const std::int64_t rest = is_last ? 0 : left / extent;
    const std::int64_t own = left - rest * extent;
    result = checked_add(result, checked_multiply(own, leaves[i].stride.factor()));
    left = rest;
  }
  return result;
}

std::int64_t index_of(const Coordinate& coordinate, const Nested<Mode>& modes, Domain domain) {
  if (coordinate.is_leaf()) {
    if (coordinate.leaf().is_underscore()) layout::refuse_underscore(coordinate);
    return index_of_number(modes, coordinate.leaf().value(), domain);
  }
  std::int64_t result = 0;
  layout::for_each_pair(coordinate, modes, [&](const Coordinate& c, const Nested<Mode>& mode) {
    result = checked_add(result, index_of(c, mode, domain));
  });
  return result;
}

/// The strides of colexicographic indices, also for extents of 1.
Layout colexicographic(const IntTuple& shape) {
  std::int64_t next = 1, extent = 1;
  return shape.map([&](const Dim& leaf) {
    next = checked_multiply(next, extent);
    extent = extent_of(leaf);
    return Mode{extent, next};
  });
}

CoordinateLeaf coordinate_of(std::int64_t index, const Mode& leaf) {
  if (!is_usable(leaf)) refuse_leaf(leaf);
  if (leaf.extent.is(1)) return 0;
  if (leaf.stride.is(0)) {
    throw Error(ErrorCode::invalid_layout,
                "idx2crd divides by the stride, which is 0 for the mode " + to_string(leaf.extent) +
                    ":0; use a compact layout");
  }
  return index / leaf.stride.factor() % leaf.extent.factor();
}

}  // namespace

std::int64_t layout::open_index(const Layout& layout, std::int64_t coordinate) {
  return index_of_number(layout, coordinate, Domain::open);
}

std::int64_t layout::open_index(const Layout& layout, const Coordinate& coordinate) {
  return index_of(coordinate, layout.modes(), Domain::open);
}

void layout::refuse_underscore(const Coordinate& coordinate) {
  throw Error(ErrorCode::invalid_layout, "the coordinate " + short_text(coordinate) +
                                             " selects no single element; use slice for a '_'");
}

void layout::refuse_rank(const Coordinate& coordinate, const std::string& what,
                         std::size_t wanted) {
  throw Error(ErrorCode::invalid_layout, "the coordinate " + short_text(coordinate) + " has " +
                                             std::to_string(coordinate.rank()) + " modes, but " +
                                             core::shortened(what) + " takes " +
                                             (wanted == 0 ? "an integer" : std::to_string(wanted)));
}

void CoordinateLeaf::refuse_negative(std::int64_t value) {
  throw Error(ErrorCode::invalid_layout,
              "coordinates are not negative, found " + std::to_string(value));
}

std::string to_string(const CoordinateLeaf& leaf) {
  return leaf.is_underscore() ? "_" : std::to_string(leaf.value());
}

std::string to_string(const Coordinate& coordinate) {
  return layout::nested_text(coordinate);
}

Coordinate parse_coordinate(std::string_view text) {
  layout::Reader reader(text);
  const auto read_leaf = [](layout::Reader& from) -> CoordinateLeaf {
    if (from.accept('_')) return _;
    if (from.peek() == '-') from.fail("an integer that is not negative");
    return from.read_integer();
  };
  int leaves = 0;
  Coordinate coordinate =
      layout::read_nested<CoordinateLeaf>(reader, read_leaf, "integers or '_'", leaves);
  reader.expect_end();
  return coordinate;
}

std::int64_t Layout::operator()(const Coordinate& coordinate) const {
  return index_of(coordinate, modes_, Domain::checked);
}

std::int64_t Layout::operator()(std::int64_t coordinate) const {
  return index_of_number(*this, coordinate, Domain::checked);
}

std::int64_t crd2idx(const Coordinate& coordinate, const IntTuple& shape, const IntTuple& stride) {
  return layout::open_index(Layout(shape, stride), coordinate);
}

std::int64_t crd2idx(const Coordinate& coordinate, const IntTuple& shape) {
  return layout::open_index(colexicographic(shape), coordinate);
}

Coordinate idx2crd(std::int64_t index, const IntTuple& shape) {
  refuse_negative(index);
  std::size_t left = shape.leaves().size();
  return shape.map([&](const Dim& leaf) -> CoordinateLeaf {
    const std::int64_t extent = extent_of(leaf), now = index;
    if (--left == 0) return now;
    index /= extent;
    return now % extent;
  });
}

Coordinate idx2crd(const Coordinate& coordinate, const IntTuple& shape) {
  if (coordinate.is_leaf()) {
    if (coordinate.leaf().is_underscore()) layout::refuse_underscore(coordinate);
    return idx2crd(coordinate.leaf().value(), shape);
  }
  auto result = Coordinate::empty_tuple();
  layout::for_each_pair(coordinate, shape, [&](const Coordinate& c, const IntTuple& mode) {
    result.append(idx2crd(c, mode));
  });
  return result;
}

Coordinate idx2crd(std::int64_t index, const IntTuple& shape, const IntTuple& stride) {
  return get_hier_coord(index, Layout(shape, stride));
}

Coordinate get_hier_coord(std::int64_t index, const Layout& layout) {
  refuse_negative(index);
  return layout.modes().map([&](const Mode& leaf) { return coordinate_of(index, leaf); });
}

Coordinate get_flat_coord(std::int64_t index, const Layout& layout) {
  if (rank(layout) == 1) return get_1d_coord(index, layout);
  auto result = Coordinate::empty_tuple();
  layout.modes().for_each_mode(
      [&](const Nested<Mode>& mode) { result.append(get_1d_coord(index, mode)); });
  return result;
}

std::int64_t get_1d_coord(std::int64_t index, const Layout& layout) {
  return crd2idx(get_hier_coord(index, layout), layout.shape());
}

}  // namespace tilejit
