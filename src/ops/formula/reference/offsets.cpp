#include <algorithm>
#include <functional>
#include <numeric>

#include "reference/problem.hpp"

namespace tilejit::reference {
namespace {

void fill_run(const ModeLeaves& leaves, std::int64_t base, std::int64_t first,
              std::span<std::int64_t> out) noexcept {
  const auto count = static_cast<std::int64_t>(out.size());
  if (leaves.size() > 1) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = base + offset_in_mode(leaves, first + i);
    return;
  }
  const std::int64_t stride = leaves.empty() ? 0 : leaves[0].stride;
  for (std::int64_t i = 0; i < count; ++i) out[i] = base + (first + i) * stride;
}

}  // namespace

// CuTe's layout function for one mode.
std::int64_t offset_in_mode(const ModeLeaves& leaves, std::int64_t coord) noexcept {
  std::int64_t offset = 0;
  for (const Leaf& leaf : leaves) {
    offset += coord % leaf.extent * leaf.stride;
    coord /= leaf.extent;
  }
  return offset;
}

std::int64_t count_elements(std::span<const std::int64_t> shape) noexcept {
  // A single zero makes the count 0, no matter how large the others are.
  if (std::ranges::find(shape, 0) != shape.end()) return 0;
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::vector<std::int64_t> coordinate(std::span<const std::int64_t> shape, std::int64_t index) {
  std::vector<std::int64_t> coord(shape.size());
  for (std::size_t i = shape.size(); i-- > 0; index /= shape[i]) coord[i] = index % shape[i];
  return coord;
}

void fill_offsets(std::span<const ModeLeaves> modes, std::span<const std::int64_t> shape,
                  std::int64_t first, std::span<std::int64_t> out) {
  std::vector<std::int64_t> coord = coordinate(shape, first);
  const std::size_t last = shape.size() - 1;
  while (!out.empty()) {
    std::int64_t base = 0;
    for (std::size_t i = 0; i < last; ++i) base += offset_in_mode(modes[i], coord[i]);
    const auto left = static_cast<std::size_t>(shape[last] - coord[last]);
    const std::size_t run = std::min(left, out.size());
    fill_run(modes[last], base, coord[last], out.first(run));
    out = out.subspan(run);
    coord[last] = 0;
    for (std::size_t i = last; i-- > 0;) {
      if (++coord[i] < shape[i]) break;
      coord[i] = 0;
    }
  }
}

}  // namespace tilejit::reference
