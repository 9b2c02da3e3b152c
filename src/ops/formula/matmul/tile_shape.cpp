#include "matmul/tile_shape.hpp"

#include <algorithm>
#include <limits>

#include "core/integer.hpp"
#include "device/device.hpp"
#include "device/scale.hpp"

namespace tilejit::plan {
namespace {

// Tiles from large to small, with rates that were measured on an H100 (docs/performance.md).
constexpr ShapeOfClass kOfBytes1[] = {{{128, 128, 64, 2, 2, 4, 2}, 3900},
                                      {{128, 64, 64, 2, 2, 4, 2}, 3200},
                                      {{64, 64, 64, 2, 2, 4, 3}, 2600}};
// 8-bit floats that the assembler converts to f16, which takes registers.
constexpr ShapeOfClass kConverted[] = {{{128, 64, 64, 4, 2, 4, 1}, 1590},
                                       {{64, 64, 64, 2, 2, 4, 2}, 1660}};
constexpr ShapeOfClass kOfBytes2[] = {{{128, 256, 64, 2, 4, 3, 1}, 2030},
                                      {{128, 128, 64, 2, 2, 3, 2}, 1950},
                                      {{128, 64, 32, 2, 2, 4, 3}, 1540},
                                      {{64, 64, 32, 2, 2, 4, 4}, 1340}};
constexpr ShapeOfClass kOfBytes4[] = {{{128, 128, 32, 2, 2, 3, 2}, 900},
                                      {{128, 64, 32, 2, 2, 3, 2}, 750},
                                      {{64, 64, 32, 2, 2, 3, 4}, 650}};
constexpr ShapeOfClass kOfBytes8[] = {{{128, 64, 16, 2, 2, 3, 2}, 260},
                                      {{64, 64, 16, 2, 2, 3, 3}, 245}};
constexpr ShapeOfClass kSingle[] = {{{128, 128, 16, 2, 4, 3, 2}, 210},
                                    {{64, 64, 16, 2, 2, 3, 4}, 195}};
constexpr ShapeOfClass kDouble[] = {{{64, 64, 16, 2, 2, 3, 2}, 100}};

constexpr int kManyWarps = 8;                  // that keep a multiprocessor's tensor cores busy
constexpr double kOfFewWarps = 0.85;           // the rate of fewer
constexpr double kClocksOfStart = 1500;        // until the first product
constexpr double kClocksOfSum = 40;            // a thread's, through shared memory and the formula
constexpr double kClocksOfPartial = 1.0 / 12;  // a block's, to leave a partial sum, or to add it
constexpr std::int64_t kLeastSteps = 8;        // of a block that has a part of K
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
  const std::int64_t each = core::ceil_div(tiles * splits, device::kMultiprocessors);
  const std::int64_t at_once = std::min<std::int64_t>(each, shape.blocks);
  const double sums = static_cast<double>(shape.m) * shape.n;
  const double rate =
      one.flop_in_clock * (at_once * shape.threads() / 32 < kManyWarps ? kOfFewWarps : 1.0);
  const double multiplying = 2 * sums * static_cast<double>(steps * shape.k) / rate;
  double around = kClocksOfStart + kClocksOfSum * sums / shape.threads();
  if (splits > 1) around += sums * kClocksOfPartial * (2 + splits);
  // The start and the end of one block are hidden by others that run beside it.
  return static_cast<double>(each) * multiplying +
         static_cast<double>(core::ceil_div(each, shape.blocks)) * around;
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
  if (accumulator == f64) return kDouble;
  return kSingle;
}

TileShape fit(TileShape shape, const Target& target, int bytes_along_k) {
  constexpr std::int64_t kReserved = 1024;  // of each block
  constexpr int kWanted = 3, kMost = 4;     // stages
  const std::int64_t all = device::device_of(target).shared_bytes;
  const auto stages = [&] {
    const std::int64_t bytes = std::int64_t{shape.k} * bytes_along_k;
    return static_cast<int>(
        std::min<std::int64_t>(shape.stages, (all / shape.blocks - kReserved) / bytes));
  };
  if (stages() < kWanted && shape.k > 32) {
    shape.k /= 2;
    shape.stages = kMost;
  }
  while (shape.blocks > 1 && stages() < kWanted) --shape.blocks;
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
      best = {.shape = one.shape, .splits = split, .clocks = cost};
    }
  }
  return best;
}

}  // namespace tilejit::plan
