#include "tilejit/layout.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/text.hpp"
#include "layout/checked.hpp"
#include "layout/int_tuple_reader.hpp"

namespace tilejit {
namespace {

/// Strides that continue from `next`, leaf by leaf; `next` is left behind the last. As in CuTe, an
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

Nested<Mode> zip(const IntTuple& shape, const IntTuple& stride) {
  if (!congruent(shape, stride)) {
    throw Error(ErrorCode::invalid_layout,
                "shape " + core::shortened(to_string(shape)) + " and stride " +
                    core::shortened(to_string(stride)) +
                    " are not nested alike; give every extent one stride");
  }
  const Dim* next = stride.leaves().data();
  return shape.map([&](const Dim& extent) { return Mode{extent, *next++}; });
}

}  // namespace

Layout::Layout(const IntTuple& shape, const IntTuple& stride) : modes_(zip(shape, stride)) {}

Layout::Layout(std::string_view text) : Layout(parse_layout(text)) {}

IntTuple Layout::shape() const {
  return modes_.map([](const Mode& mode) { return mode.extent; });
}

IntTuple Layout::stride() const {
  return modes_.map([](const Mode& mode) { return mode.stride; });
}

Layout row_major(const IntTuple& shape) {
  Dim next = 1;
  return {shape, compact_strides(shape, next, true)};
}

Layout column_major(const IntTuple& shape) {
  Dim next = 1;
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

std::size_t rank(const Layout& layout) noexcept {
  return layout.modes().rank();
}

Dim size(const Layout& layout) {
  Dim result = 1;
  for (const Mode& leaf : layout.leaves()) result = result * leaf.extent;
  return result;
}

Layout mode(const Layout& layout, std::size_t i) {
  if (i >= rank(layout)) {
    throw Error(ErrorCode::invalid_layout, to_string(layout) + " has " +
                                               std::to_string(rank(layout)) +
                                               " modes, and no mode " + std::to_string(i));
  }
  return layout.modes().mode(i);
}

std::int64_t cosize(const Layout& layout, const SymbolValues& values) {
  std::int64_t last = 0;
  for (const Mode& mode : layout.leaves()) {
    const std::int64_t extent = mode.extent.evaluate(values);
    if (extent == 0) return 0;
    last = layout::checked_add(last,
                               layout::checked_multiply(extent - 1, mode.stride.evaluate(values)));
  }
  return layout::checked_add(last, 1);
}

Layout substitute(const Layout& layout, const SymbolValues& values) {
  return layout.modes().map([&](const Mode& mode) {
    return Mode{mode.extent.evaluate(values), mode.stride.evaluate(values)};
  });
}

std::string to_string(const Layout& layout) {
  return to_string(layout.shape()) + ":" + to_string(layout.stride());
}

Layout parse_layout(std::string_view text) {
  layout::Reader reader(text);
  IntTuple shape = layout::read_int_tuple(reader);
  if (!reader.accept(':')) {
    if (reader.peek() != '\0') reader.fail("':' and a stride, or the end");
    return row_major(shape);
  }
  IntTuple stride = layout::read_int_tuple(reader);
  reader.expect_end();
  return {shape, stride};
}

}  // namespace tilejit
