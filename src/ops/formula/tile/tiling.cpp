#include "tile/tiling.hpp"

#include <algorithm>
#include <bit>

#include "core/integer.hpp"
#include "device/scale.hpp"

namespace tilejit::plan {
namespace {

constexpr int kLineBytes = 128;
constexpr int kSideBytes = 2 * kLineBytes;  // 3 % faster than one line (docs/performance.md)
constexpr int kMinSide = 32;
// Along shorter extents, strided accesses find their sectors in the L1 cache.
constexpr std::int64_t kMinExtent = 4;
constexpr int kWarp = 32;
constexpr int kMaxAccesses = 16;
constexpr std::int64_t kManyLargeTiles = 4 * device::kManyTiles;  // of many squares a thread
constexpr std::int64_t kFewestTiles = device::kManyTiles / 2;     // two on every multiprocessor
constexpr int kFewSquares = 4;                                    // a thread
constexpr double kMostEmpty = 1.25;  // slots of a tile's side, per slot of half the side

/// Whether neither mode 0 nor `m` is split among several leaves, and `m` is the contiguous one.
bool crosses(const Operand& operand, std::size_t m) {
  const OperandMode &inner = operand.modes.front(), &outer = operand.modes[m];
  return inner.size() == 1 && outer.size() == 1 && outer[0].stride.is(1) &&
         !inner[0].stride.is(0) && !inner[0].stride.is(1);
}

bool is_long(const Dim& extent) {
  return !extent.is_known() || extent.value() >= kMinExtent;
}

/// The smallest power of two that is at least `extent`, but at most `most`; `most` if the extent is
/// unknown.
int side_of(const Dim& extent, int most) {
  if (!extent.is_known() || extent.value() >= most) return most;
  return static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(extent.value())));
}

/// The number of tiles. Unknown extents are assumed to be long.
std::int64_t count_tiles(const std::vector<Dim>& extents, const Tile& tile) {
  std::int64_t count = 1;
  for (std::size_t m = 0; m < extents.size(); ++m) {
    if (!extents[m].is_known()) return kManyLargeTiles;
    const std::int64_t unit = m == 0 ? tile.columns : m == tile.mode ? tile.rows : 1;
    count *= std::min(kManyLargeTiles, core::ceil_div(extents[m].value(), unit));
    count = std::min(count, kManyLargeTiles);
  }
  return count;
}

/// Whether tiles of half the side leave much fewer slots empty at the end of the mode.
bool is_mostly_empty(const Dim& extent, int side) {
  if (!extent.is_known()) return false;
  const auto slots = [&](int of) {
    return static_cast<double>(core::ceil_div(extent.value(), std::int64_t{of}) * of);
  };
  return slots(side) > kMostEmpty * slots(side / 2);
}

}  // namespace

std::optional<std::size_t> find_transposed_mode(const std::vector<Operand>& operands,
                                                const std::vector<Dim>& extents) {
  const bool plain = std::ranges::all_of(
      operands, [](const Operand& operand) { return operand.modes.front().size() == 1; });
  if (!plain || !is_long(extents.front())) return std::nullopt;
  std::optional<std::size_t> best;
  int most = 0;
  for (std::size_t m = 1; m < extents.size(); ++m) {
    if (!is_long(extents[m])) continue;
    int bytes = 0;
    for (const Operand& operand : operands) {
      if (crosses(operand, m)) bytes += size_bytes(operand.dtype);
    }
    if (bytes > most) best = m, most = bytes;
  }
  return best;
}

std::int64_t shared_bytes(const std::vector<Operand>& operands, const Tile& tile) {
  std::int64_t bytes = 0;
  for (const Operand& operand : operands) {
    if (operand.reach == Reach::transposed) {
      bytes += std::int64_t{tile.columns} * tile.rows * size_bytes(operand.dtype);
    }
  }
  return bytes;
}

ComposedLayout shared_layout(const Tile& tile, int vector) {
  const auto log2 = [](int x) { return std::countr_zero(static_cast<unsigned>(x)); };
  const int across = tile.columns / vector;
  const Swizzle swizzle(log2(across), 0, log2(tile.columns));
  return {swizzle, 0, Layout({across, tile.rows}, {1, across})};
}

Tile choose_tile(const std::vector<Operand>& operands, const std::vector<Dim>& extents,
                 std::size_t mode, int vector) {
  int narrowest = 8;
  for (const Operand& operand : operands) {
    if (operand.reach == Reach::transposed)
      narrowest = std::min(narrowest, size_bytes(operand.dtype));
  }
  // A thread issues at most kMaxAccesses loads per operand.
  const int most = kMaxTileThreads * kMaxAccesses * vector;
  int side = std::max(kMinSide, kSideBytes / narrowest);
  while (side * side > most) side /= 2;
  const int area = side * side;
  Tile tile{.mode = mode};
  tile.columns = std::max(vector, side_of(extents.front(), side));
  tile.rows = std::max(vector, side_of(extents[mode], area / tile.columns));
  if (tile.rows < side) {
    tile.columns = std::max(vector, side_of(extents.front(), area / tile.rows));
  } else if (tile.columns == side) {
    tile.rows = side;
  }
  const auto is_shifted = [](const Operand& operand) { return operand.read && operand.shifted; };
  if (std::ranges::count_if(operands, is_shifted) > 1 && tile.rows > kMinSide) tile.rows /= 2;
  // Stores that begin within sectors share fewer of these with their neighbours if they are long.
  const auto is_turned = [](const Operand& operand) {
    return operand.written && operand.reach == Reach::transposed;
  };
  const bool long_columns = extents.front().is_known() && extents.front().value() >= 4 * side;
  if (vector == 1 && tile.columns == side && tile.rows > kMinSide && long_columns &&
      std::ranges::none_of(operands, is_turned)) {
    // With several inputs, a thread has enough under way with half as many squares.
    if (std::ranges::count(operands, true, &Operand::read) == 1) tile.columns *= 2;
    tile.rows /= 2;
  }
  const int line = std::max(vector, kLineBytes / narrowest);
  const auto is_too_large = [&] {
    const int longer = std::max(tile.columns, tile.rows);
    const int squares = tile.columns / vector * (tile.rows / vector);
    const std::int64_t count = count_tiles(extents, tile);
    return shared_bytes(operands, tile) > device::kStaticSharedBytes ||
           (longer > line && count <= device::kManyTiles) ||
           (longer > std::max(kMinSide, vector) &&
            (count < kFewestTiles ||
             (squares > kFewSquares * kMaxTileThreads && count < kManyLargeTiles)));
  };
  while (is_too_large()) (tile.rows > tile.columns ? tile.rows : tile.columns) /= 2;
  // Few tiles of several small squares a thread leave multiprocessors without threads.
  const auto has_few_threads = [&] {
    const int squares = tile.columns / vector * (tile.rows / vector);
    return vector > 1 && squares > kMaxTileThreads &&
           std::max(tile.columns, tile.rows) > kMinSide &&
           count_tiles(extents, tile) < device::kManyTiles;
  };
  while (has_few_threads()) (tile.rows >= tile.columns ? tile.rows : tile.columns) /= 2;
  while (tile.columns > kMinSide && is_mostly_empty(extents.front(), tile.columns))
    tile.columns /= 2;
  const Dim& down = extents[mode];
  if (down.is_known() && down.value() <= 2 * tile.rows && is_mostly_empty(down, tile.rows) &&
      tile.columns > kMinSide) {  // all of the mode
    tile.rows *= 2;
    tile.columns /= 2;
  }
  while (tile.columns / vector * (tile.rows / vector) < kWarp) {
    (tile.columns > tile.rows ? tile.rows : tile.columns) *= 2;
  }
  return tile;
}

}  // namespace tilejit::plan
