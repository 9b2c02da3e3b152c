#include "program/tile_data.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "arithmetic/cast.hpp"
#include "arithmetic/convert.hpp"
#include "arithmetic/format.hpp"

namespace tilejit::program {
namespace {

constexpr std::int64_t kMostShown = 8;  // elements of an axis

std::string real_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::general, 6);
  return {buffer.data(), end.ptr};
}

void add_axis(const TileData& data, std::size_t axis, std::size_t first, std::string& text) {
  const Extents& shape = data.type.shape;
  if (axis == shape.size()) {
    text += element_text(data, first);
    return;
  }
  std::size_t stride = 1;
  for (std::size_t i = axis + 1; i < shape.size(); ++i)
    stride *= static_cast<std::size_t>(shape[i]);
  text += '[';
  for (std::int64_t i = 0; i < shape[axis]; ++i) {
    if (i == kMostShown) {
      text += ", ...";
      break;
    }
    if (i > 0) text += ", ";
    add_axis(data, axis + 1, first + static_cast<std::size_t>(i) * stride, text);
  }
  text += ']';
}

}  // namespace

TileData::TileData(TileType of) : type(std::move(of)) {
  const auto count = static_cast<std::size_t>(count_of(type.shape));
  if (is_real()) {
    reals.resize(count);
  } else {
    integers.resize(count);
  }
}

TileData converted(TileData source, DType dtype) {
  const DType from = source.type.dtype;
  const bool was_real = source.is_real();
  source.type.dtype = dtype;
  const bool is_real = is_floating(dtype);
  if (was_real && is_real) {
    for (double& value : source.reals) value = arithmetic::round_to(dtype, value);
  } else if (was_real) {
    source.integers.resize(source.reals.size());
    std::ranges::transform(source.reals, source.integers.begin(),
                           [&](double value) { return arithmetic::real_to_integer(value, dtype); });
    source.reals.clear();
  } else if (is_real) {
    source.reals.resize(source.integers.size());
    std::ranges::transform(source.integers, source.reals.begin(), [&](std::int64_t value) {
      return arithmetic::cast_integer(from, dtype, value);
    });
    source.integers.clear();
  } else if (from != dtype) {
    for (std::int64_t& value : source.integers)
      value = arithmetic::integer_to_integer(value, dtype);
  }
  return source;
}

std::vector<std::size_t> broadcast_places(const Extents& own, const Extents& shape) {
  const std::size_t rank = shape.size();
  std::vector<std::size_t> strides(rank, 0);
  std::size_t stride = 1;
  for (std::size_t i = own.size(); i-- > 0;) {
    const std::size_t axis = rank - own.size() + i;
    if (own[i] != 1) strides[axis] = stride;
    stride *= static_cast<std::size_t>(own[i]);
  }
  std::vector<std::size_t> places(static_cast<std::size_t>(count_of(shape)));
  Extents coord(rank, 0);
  std::size_t place = 0;
  for (std::size_t& one : places) {
    one = place;
    for (std::size_t axis = rank; axis-- > 0;) {
      place += strides[axis];
      if (++coord[axis] < shape[axis]) break;
      coord[axis] = 0;
      place -= strides[axis] * static_cast<std::size_t>(shape[axis]);
    }
  }
  return places;
}

TileData expanded(const TileData& source, const Extents& shape) {
  if (source.type.shape == shape) return source;
  TileData result({source.type.dtype, shape});
  const std::vector<std::size_t> places = broadcast_places(source.type.shape, shape);
  for (std::size_t i = 0; i < places.size(); ++i) copy_element(source, places[i], result, i);
  return result;
}

std::string element_text(const TileData& data, std::size_t i) {
  if (data.is_real()) return real_text(data.reals[i]);
  if (data.type.dtype == u64) return std::to_string(static_cast<std::uint64_t>(data.integers[i]));
  return std::to_string(data.integers[i]);
}

std::string to_string(const TileData& data) {
  std::string text;
  if (data.size() == 0) return "[]";
  add_axis(data, 0, 0, text);
  return text;
}

}  // namespace tilejit::program
