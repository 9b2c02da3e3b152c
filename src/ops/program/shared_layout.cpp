#include "program/shared_layout.hpp"

#include <algorithm>
#include <bit>

namespace tilejit::program {
namespace {

constexpr std::int64_t kChunk = 16;  // bytes of the widest access
constexpr std::int64_t kLine = 128;  // bytes of all banks

}  // namespace

ComposedLayout shared_layout(const TileType& type) {
  const Extents shape = type.shape.empty() ? Extents{1} : type.shape;
  const std::int64_t size = size_bytes(type.dtype);
  const std::int64_t row = shape.back();
  std::vector<Dim> extents(shape.begin(), shape.end());
  const auto rows = count_of(shape) / row;
  const bool power = std::has_single_bit(static_cast<std::uint64_t>(row * size));
  if (rows == 1 || row * size < kChunk) return Layout(row_major(IntTuple::flat(extents)));
  const auto log = [](std::int64_t value) { return std::countr_zero(static_cast<std::uint64_t>(value)); };
  if (power) {
    // As many chunks as a row has in a line of banks change places, by the number of the line.
    const std::int64_t chunks = std::min(row * size, kLine) / kChunk;
    const int bits = log(chunks);
    const int base = log(kChunk / size);
    const int shift = log(std::max(row, kLine / size)) - base;
    if (bits == 0) return Layout(row_major(IntTuple::flat(extents)));
    return {Swizzle(bits, base, shift), 0, row_major(IntTuple::flat(extents))};
  }
  // Rows begin an odd number of chunks apart.
  const std::int64_t chunk = kChunk / size;
  std::int64_t pitch = (row + chunk - 1) / chunk;
  pitch = (pitch + (pitch % 2 == 0 ? 1 : 0)) * chunk;
  std::vector<Dim> strides(shape.size(), Dim(1));
  std::int64_t stride = pitch;
  for (std::size_t axis = shape.size() - 1; axis-- > 0;) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  return Layout(IntTuple::flat(extents), IntTuple::flat(strides));
}

bool keeps_vectors(const ComposedLayout& layout, const Extents& shape, std::int64_t count) {
  if (count <= 1 || shape.empty() || shape.back() % count != 0) return false;
  const Swizzle& swizzle = layout.swizzle();
  const auto base = std::int64_t{1} << std::min(swizzle.base(), swizzle.base() + swizzle.shift());
  if (swizzle.bits() > 0 && base % count != 0) return false;
  if (layout.offset() % count != 0) return false;
  const Layout& inner = layout.layout();
  if (rank(inner) != shape.size()) return false;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    for (const Mode& leaf : mode(inner, axis).leaves()) {
      const std::int64_t stride = leaf.stride.value();
      const bool is_vector = axis + 1 == shape.size() && stride == 1;
      if (is_vector ? leaf.extent.value() % count != 0 : stride % count != 0 && !leaf.extent.is(1)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace tilejit::program
