#include "matmul/tile_shape.hpp"

#include <algorithm>
#include <limits>

#include "core/integer.hpp"
#include "device/device.hpp"
#include "device/scale.hpp"

namespace tilejit::plan {
namespace {

// Tiles from large to small. Steps along K are 64 bytes wide, or 128 where instructions are short.
constexpr ShapeOfClass kOfBytes1[] = {{{128, 128, 64, 2, 4, 4, 1}, 3600},
                                      {{128, 64, 64, 2, 2, 4, 2}, 3200},
                                      {{64, 64, 64, 2, 2, 4, 3}, 2400}};
// 8-bit floats that the assembler converts to f16, which takes registers.
constexpr ShapeOfClass kConverted[] = {{{128, 64, 64, 4, 2, 4, 1}, 1200},
                                       {{64, 64, 64, 2, 2, 4, 2}, 1000}};
constexpr ShapeOfClass kOfBytes2[] = {{{128, 256, 32, 2, 4, 4, 1}, 1800},
                                      {{128, 128, 32, 2, 2, 4, 2}, 1800},
                                      {{128, 64, 32, 2, 2, 4, 3}, 1500},
                                      {{64, 64, 32, 2, 2, 4, 4}, 1200}};
constexpr ShapeOfClass kOfBytes4[] = {{{128, 128, 32, 2, 4, 3, 2}, 800},
                                      {{128, 64, 32, 2, 2, 3, 2}, 700},
                                      {{64, 64, 32, 2, 2, 3, 4}, 600}};
constexpr ShapeOfClass kOfBytes8[] = {{{128, 64, 16, 2, 2, 3, 2}, 240},
                                      {{64, 64, 16, 2, 2, 3, 3}, 220}};
constexpr ShapeOfClass kOfSingle[] = {{{128, 128, 16, 2, 4, 3, 2}, 240},
                                      {{64, 64, 16, 2, 2, 3, 4}, 180}};
constexpr ShapeOfClass kOfDouble[] = {{{64, 64, 16, 2, 2, 3, 2}, 100}};

constexpr std::int64_t kMultiprocessors = device::kWantedBlocks / 4;
constexpr double kFewBlocks = 0.75;           // the rate where fewer blocks than planned are there
constexpr double kClocksOfBlock = 1500;       // until the first product, and after the last sum
constexpr double kClocksOfSum = 1.0 / 12;     // to store one
constexpr double kClocksOfPartial = 1.0 / 6;  // to leave a partial sum, and to add it
constexpr std::int64_t kLeastSteps = 8;       // of a block that has a part of K
constexpr int kMostSplits = 32;
constexpr std::int64_t kLarge = 8192;  // elements

struct Grid {
  std::int64_t m, n, k, batch;
};

double clocks(const ShapeOfClass& one, const Grid& size, int splits) {
  const TileShape& shape = one.shape;
  const std::int64_t tiles =
      core::ceil_div(size.m, shape.m) * core::ceil_div(size.n, shape.n) * size.batch;
  const std::int64_t steps = core::ceil_div(core::ceil_div(size.k, shape.k), splits);
  const std::int64_t each = core::ceil_div(tiles * splits, kMultiprocessors);
  const double sums = static_cast<double>(shape.m) * shape.n;
  const double rate = one.flop_in_clock * (each < shape.blocks ? kFewBlocks : 1.0);
  double of_block =
      2 * sums * static_cast<double>(steps * shape.k) / rate + kClocksOfBlock + sums * kClocksOfSum;
  if (splits > 1) of_block += sums * kClocksOfPartial * 2;
  const double last = splits > 1 ? sums * kClocksOfPartial * splits : 0;
  return static_cast<double>(each) * of_block + last;
}

}  // namespace

std::span<const ShapeOfClass> tensor_core_shapes(const atoms::MmaAtom& atom,
                                                 const Target& target) noexcept {
  if (atoms::support(atom, target) == atoms::Support::emulated) return kConverted;
  switch (size_bytes(atom.a)) {
    case 1: return kOfBytes1;
    case 2: return kOfBytes2;
    case 4: return kOfBytes4;
    default: return kOfBytes8;
  }
}

std::span<const ShapeOfClass> simt_shapes(DType accumulator) noexcept {
  if (accumulator == f64) return kOfDouble;
  return kOfSingle;
}

TileShape fit(TileShape shape, const Target& target, std::int64_t stage_bytes) {
  constexpr std::int64_t kReserved = 1024;  // of each block
  const std::int64_t all = device::device_of(target).shared_bytes;
  const auto stages = [&] {
    return static_cast<int>(
        std::min<std::int64_t>(shape.stages, (all / shape.blocks - kReserved) / stage_bytes));
  };
  while (shape.blocks > 1 && stages() < std::min(3, shape.stages)) --shape.blocks;
  shape.stages = std::max(2, stages());
  return shape;
}

TileChoice choose_tile(std::span<const ShapeOfClass> shapes, const ProductSize& size,
                       std::optional<int> splits) {
  const bool known = size.m && size.n && size.k && size.batch;
  const Grid grid{size.m.value_or(kLarge), size.n.value_or(kLarge), size.k.value_or(kLarge),
                  size.batch.value_or(1)};
  TileChoice best;
  double least = std::numeric_limits<double>::infinity();
  for (const ShapeOfClass& one : shapes) {
    const std::int64_t steps = core::ceil_div(grid.k, one.shape.k);
    for (int split = splits.value_or(1); split <= splits.value_or(known ? kMostSplits : 1);
         ++split) {
      if (!splits && split > 1 && steps / split < kLeastSteps) break;
      const double cost = clocks(one, grid, split);
      if (cost >= least) continue;
      least = cost;
      best = {.shape = one.shape, .splits = split};
    }
  }
  return best;
}

}  // namespace tilejit::plan
