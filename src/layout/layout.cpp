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
  std::vector<IntTuple> strides(shape.modes().size());
  for (std::size_t k = 0; k < strides.size(); ++k) {
    const std::size_t i = last_is_fastest ? strides.size() - 1 - k : k;
    strides[i] = compact_strides(shape.modes()[i], next, last_is_fastest);
  }
  return IntTuple::tuple(std::move(strides));
}

void append_modes(const IntTuple& shape, const IntTuple& stride, std::vector<Mode>& modes) {
  if (shape.is_leaf()) {
    modes.push_back({shape.leaf(), stride.leaf()});
    return;
  }
  for (std::size_t i = 0; i < shape.modes().size(); ++i) {
    append_modes(shape.modes()[i], stride.modes()[i], modes);
  }
}

IntTuple substitute(const IntTuple& tuple, const SymbolValues& values) {
  if (tuple.is_leaf()) return tuple.leaf().evaluate(values);
  std::vector<IntTuple> modes;
  for (const IntTuple& mode : tuple.modes()) modes.push_back(substitute(mode, values));
  return IntTuple::tuple(std::move(modes));
}

}  // namespace

Layout::Layout(IntTuple shape, IntTuple stride)
    : shape_(std::move(shape)), stride_(std::move(stride)) {
  if (!congruent(shape_, stride_)) {
    throw Error(ErrorCode::invalid_layout,
                "shape " + core::shortened(to_string(shape_)) + " and stride " +
                    core::shortened(to_string(stride_)) +
                    " are not nested alike; give every extent one stride");
  }
}

Layout::Layout(std::string_view text) : Layout(parse_layout(text)) {}

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
  for (const std::size_t i : by_speed) strides[i] = compact_strides(shape.modes()[i], next, false);
  return {shape, IntTuple::tuple(std::move(strides))};
}

std::size_t rank(const Layout& layout) noexcept {
  return rank(layout.shape());
}

Dim size(const Layout& layout) {
  return product(layout.shape());
}

Layout mode(const Layout& layout, std::size_t i) {
  return {mode(layout.shape(), i), mode(layout.stride(), i)};
}

std::vector<Mode> flatten(const Layout& layout) {
  std::vector<Mode> modes;
  append_modes(layout.shape(), layout.stride(), modes);
  return modes;
}

std::int64_t cosize(const Layout& layout, const SymbolValues& values) {
  std::int64_t last = 0;
  for (const Mode& mode : flatten(layout)) {
    const std::int64_t extent = mode.extent.evaluate(values);
    if (extent == 0) return 0;
    last = layout::checked_add(last,
                               layout::checked_multiply(extent - 1, mode.stride.evaluate(values)));
  }
  return layout::checked_add(last, 1);
}

Layout substitute(const Layout& layout, const SymbolValues& values) {
  return {substitute(layout.shape(), values), substitute(layout.stride(), values)};
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
  return {std::move(shape), std::move(stride)};
}

}  // namespace tilejit
