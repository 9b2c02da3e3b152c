#include "tilejit/layout.hpp"

#include "core/text.hpp"
#include "layout/checked.hpp"
#include "layout/int_tuple_reader.hpp"
#include "tilejit/coordinate_layout.hpp"

namespace tilejit {
namespace {

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

void check_extents(const IntTuple& shape) {
  for (const Dim& extent : shape.leaves()) {
    if (!coordinate_step(extent)) continue;
    throw Error(ErrorCode::invalid_layout,
                "the extent " + to_string(extent) + " is a step of a coordinate; only strides are");
  }
}

/// `stride` with the symbols' values filled in. A coordinate step remains one.
Dim filled(const Dim& stride, const SymbolValues& values) {
  auto step = coordinate_step(stride);
  if (!step) return stride.evaluate(values);
  step->steps = step->steps.evaluate(values);
  return coordinate_stride(*step);
}

}  // namespace

Layout::Layout(const IntTuple& shape, const IntTuple& stride) : Layout(zip(shape, stride)) {}

Layout::Layout(std::string_view text) : Layout(parse_layout(text)) {}

Layout::Layout(Nested<Mode> modes) : modes_(std::move(modes)) {
  if (!modes_.leaves().empty()) return;
  throw Error(ErrorCode::invalid_layout, "a layout has at least one mode, found none");
}

IntTuple Layout::shape() const {
  return modes_.map([](const Mode& mode) { return mode.extent; });
}

IntTuple Layout::stride() const {
  return modes_.map([](const Mode& mode) { return mode.stride; });
}

std::size_t rank(const Layout& layout) noexcept {
  return layout.modes().rank();
}

std::size_t depth(const Layout& layout) noexcept {
  return layout.modes().depth();
}

Dim size(const Layout& layout) {
  Dim result = 1;
  for (const Mode& leaf : layout.leaves()) result = result * leaf.extent;
  return result;
}

Layout mode(const Layout& layout, std::size_t i) {
  if (i >= rank(layout)) {
    throw Error(ErrorCode::invalid_layout, core::shortened(to_string(layout)) + " has " +
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
    return Mode{mode.extent.evaluate(values), filled(mode.stride, values)};
  });
}

std::string to_string(const Layout& layout) {
  return to_string(layout.shape()) + ":" + to_string(layout.stride());
}

Layout parse_layout(std::string_view text) {
  layout::Reader reader(text);
  IntTuple shape = layout::read_int_tuple(reader);
  check_extents(shape);
  if (!reader.accept(':')) {
    if (reader.peek() != '\0') reader.fail("':' and a stride, or the end");
    reader.expect_end();
    return row_major(shape);
  }
  IntTuple stride = layout::read_int_tuple(reader);
  reader.expect_end();
  return {shape, stride};
}

}  // namespace tilejit
