// Layouts from shapes: rows of the table of operations.
#include "layout/layout_operations.hpp"
#include "tilejit/coordinate_layout.hpp"
#include "tilejit/error.hpp"

namespace tilejit::cli {
namespace {

Layout make_ordered(const IntTuple& shape, const Order& order) {
  switch (order.by) {
    case Order::By::left: return column_major(shape);
    case Order::By::right: return row_major(shape);
    case Order::By::modes: break;
  }
  return make_ordered_layout(shape, order.modes);
}

Layout make_compact(const IntTuple& shape, const Order* order, const std::int64_t* start) {
  const Order::By by = order == nullptr ? Order::By::left : order->by;
  const Dim first = start == nullptr ? 1 : *start;
  if (by == Order::By::modes) {
    if (start == nullptr) return make_ordered(shape, *order);
    throw Error(ErrorCode::invalid_argument, "START goes with left or right, not with a tuple");
  }
  return by == Order::By::left ? column_major(shape, first) : row_major(shape, first);
}

}  // namespace

std::vector<Operation> making_operations() {
  return {
      operation("make_layout", {"shape", "order", "start"},
                "Compact strides from START (1) on, by columns (left) unless ORDER is right",
                {"(4,(2,3))"}, make_compact),
      operation("make_ordered_layout", {"shape", "order"},
                "Compact strides, the smallest integer of the order first", {"(4,64)", "(1,0)"},
                make_ordered),
      operation("make_layout_like", {"layout"}, "Compact strides in the order of the layout's",
                {"(4,8):(16,1)"}, make_layout_like),
      operation("make_fragment_like", {"layout"}, "The same, but mode 0 comes first, by columns",
                {"(4,8):(16,1)"}, make_fragment_like),
      operation("make_identity_tensor", {"shape"}, "Each coordinate to itself", {"(4,(2,3))"},
                coordinate_layout),
      operation("make_identity_layout", {"shape"}, "Each coordinate to its number", {"(4,(2,3))"},
                make_identity),
  };
}

}  // namespace tilejit::cli
