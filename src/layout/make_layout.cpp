#include <algorithm>
#include <numeric>

#include "layout/nested_modes.hpp"
#include "tilejit/layout.hpp"
#include "tilejit/layout_algebra.hpp"

namespace tilejit {
namespace {

using layout::short_text;

/// Strides that continue from `next`, leaf by leaf. Leaves `next` after the last. As in CuTe, an
/// extent of 1 gets stride 0.
IntTuple compact_strides(const IntTuple& shape, Dim& next, bool last_is_fastest) {
  if (shape.is_leaf()) {
    IntTuple stride = shape.leaf().is(1) ? Dim(0) : next;
    next = next * shape.leaf();
    return stride;
  }
  std::vector<IntTuple> strides(shape.rank());
  for (std::size_t k = 0; k < strides.size(); ++k) {
    const std::size_t i = last_is_fastest ? strides.size() - 1 - k : k;
    strides[i] = compact_strides(shape.mode(i), next, last_is_fastest);
  }
  return IntTuple::tuple(strides);
}

/// True if `a` is less than `b` for all values of the symbols for which they differ.
bool is_before(const Dim& a, const Dim& b) {
  if (a.is_known() && b.is_known()) return a.value() < b.value();
  if (a.same_value(b) || b.is(0)) return false;
  if (a.is(0) || Dim::divide(b, a)) return true;
  if (Dim::divide(a, b)) return false;
  throw Error(ErrorCode::unsupported, core::shortened(to_string(a)) + " and " +
                                          core::shortened(to_string(b)) +
                                          " have no certain order; give the order in integers");
}

/// The part of a shape to which one integer of an order applies.
struct OrderedPart {
  IntTuple shape;
  Dim order;
};

void collect_parts(const IntTuple& shape, const IntTuple& order, std::vector<OrderedPart>& parts) {
  if (order.is_leaf()) return parts.push_back({shape, order.leaf()});
  const std::vector<IntTuple> orders = layout::modes_of(order);
  std::size_t i = 0;
  shape.for_each_mode([&](const IntTuple& mode) { collect_parts(mode, orders[i++], parts); });
}

/// The strides that make_ordered_layout gives to `shape`.
IntTuple ordered_strides(const IntTuple& shape, const IntTuple& order) {
  if (!weakly_congruent(order, shape)) {
    throw Error(ErrorCode::invalid_layout,
                "the order " + short_text(order) + " is not nested as the shape " +
                    short_text(shape) + "; give every mode one integer, or a tuple of its rank");
  }
  std::vector<OrderedPart> parts;
  collect_parts(shape, order, parts);
  std::vector<IntTuple> strides;
  for (const OrderedPart& part : parts) {
    Dim first = 1;
    for (const OrderedPart& other : parts) {
      if (is_before(other.order, part.order)) first = first * product(other.shape);
    }
    strides.push_back(compact_strides(part.shape, first, false));
  }
  const IntTuple* next = strides.data();
  return layout::nested_as(order, next);
}

IntTuple without_zeros(const Layout& layout) {
  return filter_zeros(layout).shape();
}

}  // namespace

Layout row_major(const IntTuple& shape, const Dim& first) {
  Dim next = first;
  return {shape, compact_strides(shape, next, true)};
}

Layout column_major(const IntTuple& shape, const Dim& first) {
  Dim next = first;
  return {shape, compact_strides(shape, next, false)};
}

Layout ordered(const IntTuple& shape, std::span<const int> order) {
  std::vector<std::size_t> by_speed(rank(shape));
  std::iota(by_speed.begin(), by_speed.end(), 0);
  std::vector<int> sorted(order.begin(), order.end());
  std::ranges::sort(sorted);
  const bool permutation =
      sorted.size() == by_speed.size() &&
      std::ranges::equal(sorted, by_speed, {}, [](int i) { return std::size_t(i); });
  if (!permutation) {
    throw Error(ErrorCode::invalid_layout,
                "the order of shape " + core::shortened(to_string(shape)) +
                    " must be a permutation of 0.." + std::to_string(rank(shape) - 1));
  }
  std::ranges::sort(by_speed, {}, [&](std::size_t i) { return order[i]; });
  Dim next = 1;
  if (shape.is_leaf()) return {shape, compact_strides(shape, next, false)};
  std::vector<IntTuple> strides(rank(shape));
  for (const std::size_t i : by_speed) strides[i] = compact_strides(shape.mode(i), next, false);
  return {shape, IntTuple::tuple(strides)};
}

Layout make_ordered_layout(const IntTuple& shape, const IntTuple& order) {
  return {shape, ordered_strides(shape, order)};
}

Layout make_layout_like(const Layout& layout) {
  return {layout.shape(), ordered_strides(without_zeros(layout), layout.stride())};
}

Layout make_fragment_like(const Layout& layout) {
  const auto is_known = [](const Mode& leaf) { return leaf.extent.is_known(); };
  if (rank(layout) == 1 || !std::ranges::all_of(layout.leaves(), is_known)) {
    return column_major(layout.shape());
  }
  const Layout first = mode(layout, 0), others = take(layout, 1, rank(layout));
  const Layout atom(first.shape(), column_major(without_zeros(first)).stride());
  return tiled_product(atom, make_ordered_layout(others.shape(), others.stride()));
}

Layout make_identity(const IntTuple& shape) {
  return column_major(shape);
}

}  // namespace tilejit
