// Parts and sizes of a layout: rows of the table of operations.
#include "layout/layout_operations.hpp"

namespace tilejit::cli {
namespace {

/// The mode at the end of `path`; the whole layout if there is no path.
Layout part_of(const Layout& layout, const IntTuple* path) {
  return path == nullptr ? layout : get(layout, numbers_of(*path));
}

}  // namespace

std::vector<Operation> shape_operations() {
  return {
      operation(
          "size", {"layout", "path"},
          "The number of coordinates, of all or of the mode at the end of a path",
          {"(4,(2,3)):(1,(4,8))"},
          +[](const Layout& layout, const IntTuple* path) { return size(part_of(layout, path)); }),
      operation(
          "cosize", {"layout", "path"}, "One more than the largest index", {"(4,(2,3)):(1,(4,10))"},
          +[](const Layout& layout, const IntTuple* path) {
            return cosize(part_of(layout, path));
          }),
      operation(
          "rank", {"layout", "path"}, "The number of modes", {"(4,(2,3)):(1,(4,8))"},
          +[](const Layout& layout, const IntTuple* path) {
            return static_cast<std::int64_t>(rank(part_of(layout, path)));
          }),
      operation(
          "depth", {"layout", "path"}, "The levels of nesting, 0 for an integer",
          {"(4,(2,3)):(1,(4,8))"},
          +[](const Layout& layout, const IntTuple* path) {
            return static_cast<std::int64_t>(depth(part_of(layout, path)));
          }),
      operation(
          "shape", {"layout", "path"}, "The extents", {"(4,(2,3)):(1,(4,8))"},
          +[](const Layout& layout, const IntTuple* path) {
            return part_of(layout, path).shape();
          }),
      operation(
          "stride", {"layout", "path"}, "The strides", {"(4,(2,3)):(1,(4,8))"},
          +[](const Layout& layout, const IntTuple* path) {
            return part_of(layout, path).stride();
          }),
      operation(
          "mode", {"layout", "i"}, "The i-th mode", {"(4,(2,3)):(1,(4,8))", "1"},
          +[](const Layout& layout, std::int64_t i) { return mode(layout, as_index(i)); }),
      operation(
          "substitute", {"layout", "values"}, "Symbols filled in",
          {"(M,ceil_div(N,4)):(1,M)", "M=10,N=6"},
          +[](const Layout& layout, const SymbolValues& values) {
            return substitute(layout, values);
          }),
  };
}

}  // namespace tilejit::cli
