// The launch shapes that kernels' authors give by expressions.

#include <array>

#include "launch/binder.hpp"

namespace tilejit::launch {

std::shared_ptr<const Binder::Shape> Binder::make_shape(const operation::Step& step) {
  if (!step.shape) return nullptr;
  auto made = std::make_shared<Shape>();
  made->shape = *step.shape;
  for (std::size_t i = 0; i < kShapeNumbers; ++i) {
    for (const std::string& name : made->shape.numbers[i].names()) {
      made->slots[i].push_back(symbols_.find(name));
    }
  }
  made->first = shape_numbers_;
  shape_numbers_ += kShapeNumbers;
  return made;
}

bool Binder::evaluate_shape(const Shape& shape, std::span<const std::int64_t> values,
                            Sizes& sizes) {
  std::array<std::int64_t, 256> named;  // initialised only as far as it is used
  for (std::size_t i = 0; i < kShapeNumbers; ++i) {
    const std::vector<int>& slots = shape.slots[i];
    for (std::size_t n = 0; n < slots.size(); ++n) {
      named[n] = values[static_cast<std::size_t>(slots[n])];
    }
    const operation::SizeExpression& number = shape.shape.numbers[i];
    const std::int64_t value = number.evaluate(std::span(named).first(slots.size()));
    if (operation::is_empty_launch(shape.shape, i, value)) return false;
    operation::check_launch_number(shape.shape, i, value);
    sizes.shapes[shape.first + i] = value;
  }
  operation::check_launch_numbers(shape.shape, &sizes.shapes[shape.first]);
  return true;
}

Grid Binder::make_shaped_grid(const Shape& shape, const Sizes& sizes) {
  const auto number = [&](std::size_t i) {
    return static_cast<std::uint32_t>(sizes.shapes[shape.first + i]);
  };
  using operation::LaunchShape;
  // check_launch_numbers has compared them with CUDA's limits, for which the fields have room.
  return {.blocks = number(LaunchShape::grid),
          .y = static_cast<std::uint16_t>(number(LaunchShape::grid + 1)),
          .z = static_cast<std::uint16_t>(number(LaunchShape::grid + 2)),
          .threads_x = number(LaunchShape::block) & 0x7FFu,
          .threads_y = number(LaunchShape::block + 1) & 0x7FFu,
          .threads_z = number(LaunchShape::block + 2) & 0x7Fu,
          .shared_bytes = number(LaunchShape::shared)};
}

}  // namespace tilejit::launch
