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
  const auto log = [](std::int64_t value) {
    return std::countr_zero(static_cast<std::uint64_t>(value));
  };
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

BankConflicts accesses(const Distribution& of, const TileType& type, const ComposedLayout& layout) {
  const int last = static_cast<int>(type.shape.size()) - 1;
  std::int64_t count = last < 0 ? 1 : of.vector_along(last);
  while (count > 1 &&
         (!keeps_vectors(layout, type.shape, count) || count * size_bytes(type.dtype) > kChunk)) {
    count /= 2;
  }
  // The shared layout takes places with the first axis fastest.
  std::vector<std::int64_t> strides(type.shape.size(), 1);
  for (std::size_t axis = 1; axis < strides.size(); ++axis) {
    strides[axis] = strides[axis - 1] * type.shape[axis - 1];
  }
  const auto mode_of = [&](const std::vector<Distribution::Digit>& digits, std::size_t most) {
    std::vector<Layout> modes;
    for (const Distribution::Digit& digit : digits) {
      if (modes.size() == most) break;
      const std::int64_t stride =
          digit.axis < 0 ? 0 : digit.step * strides[static_cast<std::size_t>(digit.axis)];
      modes.emplace_back(Nested<Mode>(Mode{digit.extent, stride}));
    }
    if (modes.empty()) return Layout();
    return modes.size() == 1 ? modes.front() : make_layout(modes);
  };
  const auto size = size_bytes(type.dtype);
  return bank_conflicts(make_layout({mode_of(of.of_thread, 64), mode_of(of.of_value, 1)}), layout,
                        static_cast<int>(count) * size, size);
}

ComposedLayout exchange_layout(const TileType& type, const Distribution& from,
                               const Distribution& to) {
  ComposedLayout best = shared_layout(type);
  const Swizzle& usual = best.swizzle();
  if (type.shape.size() < 2 || from.overhangs() || to.overhangs()) return best;
  std::vector<ComposedLayout> others;
  for (int shift = usual.shift() + 1; usual.bits() > 0 && shift <= usual.shift() + 3; ++shift) {
    others.push_back({Swizzle(usual.bits(), usual.base(), shift), 0, best.layout()});
  }
  const std::vector<Dim> extents(type.shape.begin(), type.shape.end());
  for (const std::int64_t padding : {std::int64_t{1}, kChunk / size_bytes(type.dtype)}) {
    std::vector<Dim> strides(extents.size(), Dim(1));
    std::int64_t stride = type.shape.back() + padding;
    for (std::size_t axis = extents.size() - 1; axis-- > 0;) {
      strides[axis] = stride;
      stride *= type.shape[axis];
    }
    others.emplace_back(Layout(IntTuple::flat(extents), IntTuple::flat(strides)));
  }
  // Passes for each element of a thread.
  const auto passes = [&](const ComposedLayout& layout) {
    double sum = 0;
    for (const Distribution* const of : {&from, &to}) {
      const double values =
          of->of_value.empty() ? 1 : static_cast<double>(of->of_value.front().extent);
      sum += static_cast<double>(accesses(*of, type, layout).wavefronts) / values;
    }
    return sum;
  };
  double least = passes(best);
  for (const ComposedLayout& other : others) {
    const double own = passes(other);
    if (own >= least) continue;
    least = own;
    best = other;
  }
  return best;
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
    const Layout own = mode(inner, axis);
    for (const Mode& leaf : own.leaves()) {
      const std::int64_t stride = leaf.stride.value();
      const bool is_vector = axis + 1 == shape.size() && stride == 1;
      if (is_vector ? leaf.extent.value() % count != 0
                    : stride % count != 0 && !leaf.extent.is(1)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace tilejit::program
