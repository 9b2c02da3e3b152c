#include "interop/strides.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tilejit/error.hpp"

namespace tilejit::interop {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::invalid_argument, "a tensor " + why);
}

void check_not_negative(const char* what, std::span<const std::int64_t> numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] >= 0) continue;
    refuse(fmt::format("has {} {} in mode {}; it cannot be negative", what, numbers[i], i));
  }
}

[[noreturn]] void refuse_size() {
  refuse("spans more than 2^63-1 elements; check its extents and strides");
}

}  // namespace

void fill_compact_strides(std::span<const std::int64_t> shape, std::span<std::int64_t> strides) {
  check_not_negative("extent", shape);
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    if (__builtin_mul_overflow(stride, std::max<std::int64_t>(shape[i], 1), &stride)) refuse_size();
  }
}

std::vector<std::int64_t> compact_strides(std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> strides(shape.size());
  fill_compact_strides(shape, strides);
  return strides;
}

Layout flat_layout(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides) {
  if (shape.empty()) return {};
  std::vector<Layout> modes;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    modes.push_back(Layout(shape[i], shape[i] == 1 ? 0 : strides[i]));
  }
  return make_layout(modes);
}

std::int64_t span_elements(std::span<const std::int64_t> shape,
                           std::span<const std::int64_t> strides) {
  if (shape.size() != strides.size()) {
    refuse(fmt::format("has {} extents but {} strides; pass one stride an extent, or none",
                       shape.size(), strides.size()));
  }
  check_not_negative("extent", shape);
  check_not_negative("stride", strides);
  if (std::ranges::find(shape, 0) != shape.end()) return 0;
  std::int64_t elements = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(shape[i] - 1, strides[i], &reach) ||
        __builtin_add_overflow(elements, reach, &elements)) {
      refuse_size();
    }
  }
  return elements;
}

}  // namespace tilejit::interop
