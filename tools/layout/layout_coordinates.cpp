// Coordinates and indices: rows of the table of operations.
#include <fmt/format.h>

#include <algorithm>

#include "common/command.hpp"
#include "layout/layout_operations.hpp"

namespace tilejit::cli {
namespace {

constexpr std::int64_t kLongestTable = 65536;

Position index_at(const ComposedLayout& layout, const WrittenCoordinate& coord) {
  const bool plain = layout.is_plain();
  if (plain && (coord.has_symbols() || !is_known(layout.layout())))
    return position_at(layout.layout(), coord, Domain::checked);
  const std::int64_t index = layout(coord.numbers("a swizzled layout"));
  return {std::to_string(index), index};
}

// The index is static if every leaf of the coordinate is.
Position index_of(const WrittenCoordinate& coord, const IntTuple& shape, const IntTuple* stride) {
  const Layout layout = stride == nullptr ? column_major(shape) : Layout(shape, *stride);
  if (coord.has_symbols() || !is_known(layout)) return position_at(layout, coord, Domain::open);
  const std::int64_t index =
      stride == nullptr ? crd2idx(coord.value, shape) : crd2idx(coord.value, shape, *stride);
  const bool is_static = std::ranges::all_of(coord.leaves, &WrittenCoordinate::Leaf::is_static);
  return {(is_static ? "_" : "") + std::to_string(index), index};
}

// A tuple is looked up mode by mode. Strides allow only an integer.
WrittenAnswer coordinate_of(const WrittenCoordinate& index, const IntTuple& shape,
                            const IntTuple* stride) {
  if (stride == nullptr) return coordinate_in(index, shape);
  const Coordinate& number = index.numbers("idx2crd with strides");
  if (!number.is_leaf() || number.leaf().is_underscore()) {
    throw UsageError(fmt::format("idx2crd takes an integer where strides are given, found {}",
                                 to_string(number)));
  }
  const Answer answer = make_answer(idx2crd(number.leaf().value(), shape, *stride));
  return {answer.text, answer.json};
}

std::vector<std::int64_t> index_table(const ComposedLayout& layout) {
  const Dim count = size(layout.layout());
  if (!count.is_known() || count.value() > kLongestTable) {
    throw UsageError(fmt::format("index_table lists up to {} indices, and {} has {}", kLongestTable,
                                 to_string(layout), to_string(count)));
  }
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < count.value(); ++i) indices.push_back(layout(i));
  return indices;
}

}  // namespace

std::vector<Operation> coordinate_operations() {
  return {
      operation("index", {"layout", "coord"}, "The index of the element at a coordinate",
                {"(3,(2,3)):(3,(12,1))", "(1,(1,2))"}, index_at),
      operation("index_table", {"layout"}, "The index at each coordinate, in their order",
                {"(4,2):(2,1)"}, index_table),
      operation("crd2idx", {"coord", "shape", "stride"},
                "The index of a coordinate; its number, without strides",
                {"(1,5)", "(3,(2,3))", "(3,(12,1))"}, index_of),
      operation("idx2crd", {"index", "shape", "stride"},
                "The coordinate of a number, or of a compact layout's index", {"16", "(3,(2,3))"},
                coordinate_of),
      operation("get_hier_coord", {"index", "layout"},
                "The coordinate of an index, nested as the layout", {"17", "(3,(2,3)):(6,(3,1))"},
                get_hier_coord),
      operation("get_flat_coord", {"index", "layout"},
                "The coordinate of an index, an integer for each mode",
                {"17", "(3,(2,3)):(6,(3,1))"}, get_flat_coord),
      operation("get_1d_coord", {"index", "layout"}, "The coordinate of an index, an integer",
                {"17", "(3,(2,3)):(6,(3,1))"}, get_1d_coord),
      operation(
          "slice", {"coord", "layout"}, "The modes at _, and the index of the others",
          {"(_,(1,_))", "(3,(2,3)):(3,(12,1))"},
          +[](const WrittenCoordinate& coord, const Layout& layout) {
            return slice_at(coord, layout);
          }),
      operation(
          "dice", {"coord", "layout"}, "The modes at integers",
          {"(_,(1,_))", "(3,(2,3)):(3,(12,1))"},
          +[](const WrittenCoordinate& coord, const Layout& layout) {
            return dice(coord.value, layout);
          }),
  };
}

}  // namespace tilejit::cli
