#include "layout/compact_order.hpp"

#include "core/text.hpp"
#include "tilejit/error.hpp"
#include "tilejit/layout.hpp"

namespace tilejit::layout {
namespace {

/// What is ordered: a leaf of the order, and the size of the shape there.
struct Part {
  std::int64_t order;
  Dim size;
};

[[noreturn]] void refuse(const IntTuple& shape, const IntTuple& order) {
  throw Error(ErrorCode::invalid_layout,
              "the order " + core::shortened(to_string(order)) + " does not fit the shape " +
                  core::shortened(to_string(shape)) + "; give every mode one known integer");
}

void collect(const IntTuple& shape, const IntTuple& order, std::vector<Part>& parts) {
  if (order.is_leaf()) {
    if (!order.leaf().is_known()) refuse(shape, order);
    parts.push_back({order.leaf().value(), product(shape)});
    return;
  }
  if (shape.is_leaf() || shape.rank() != order.rank()) refuse(shape, order);
  for (std::size_t i = 0; i < shape.rank(); ++i) collect(shape.mode(i), order.mode(i), parts);
}

IntTuple strides_of(const IntTuple& shape, const IntTuple& order, std::span<const Part> parts) {
  if (!order.is_leaf()) {
    IntTuple strides = IntTuple::empty_tuple();
    for (std::size_t i = 0; i < shape.rank(); ++i) {
      strides.append(strides_of(shape.mode(i), order.mode(i), parts));
    }
    return strides;
  }
  Dim start = 1;
  for (const Part& part : parts) {
    if (part.order < order.leaf().value()) start = start * part.size;
  }
  return column_major(shape).stride().map([&](const Dim& stride) { return stride * start; });
}

}  // namespace

IntTuple compact_order(const IntTuple& shape, const IntTuple& order) {
  std::vector<Part> parts;
  collect(shape, order, parts);
  return strides_of(shape, order, parts);
}

}  // namespace tilejit::layout
