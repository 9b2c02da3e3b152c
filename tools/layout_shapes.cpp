// Parts and sizes of a layout: rows of the table of operations.
#include "layout_operations.hpp"

namespace tilejit::cli {
std::vector<Operation> shape_operations() {
  return {
      operation(
          "size", {"layout"}, "The number of coordinates", {"(4,(2,3)):(1,(4,8))"},
          +[](const Layout& layout) { return size(layout); }),
      operation(
          "cosize", {"layout"}, "One more than the largest index", {"(4,(2,3)):(1,(4,10))"},
          +[](const Layout& layout) { return cosize(layout); }),
      operation(
          "rank", {"layout"}, "The number of modes", {"(4,(2,3)):(1,(4,8))"},
          +[](const Layout& layout) { return static_cast<std::int64_t>(rank(layout)); }),
      operation(
          "depth", {"layout"}, "The levels of nesting, 0 for an integer", {"(4,(2,3)):(1,(4,8))"},
          +[](const Layout& layout) { return static_cast<std::int64_t>(depth(layout)); }),
      operation(
          "shape", {"layout"}, "The extents", {"(4,(2,3)):(1,(4,8))"},
          +[](const Layout& layout) { return layout.shape(); }),
      operation(
          "stride", {"layout"}, "The strides", {"(4,(2,3)):(1,(4,8))"},
          +[](const Layout& layout) { return layout.stride(); }),
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
