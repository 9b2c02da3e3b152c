#include "tile/tiling.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/integer.hpp"
#include "device/access.hpp"
#include "device/scale.hpp"
#include "plan/launch_shape.hpp"

namespace tilejit::plan {
namespace {

constexpr int kLineBytes = 128;
constexpr int kSideBytes = 2 * kLineBytes;  // 3 % faster than one line (docs/performance.md)
constexpr int kMinSide = 32;
// Along shorter extents, strided accesses find their sectors in the L1 cache.
constexpr std::int64_t kMinExtent = 4;
constexpr std::int64_t kLeastOfMatrix = 256;  // elements; less is too little for a block
constexpr std::int64_t kLeastOfSpace = 4096;  // elements; others do not pay for a barrier
constexpr int kWarp = 32;
constexpr int kMaxAccesses = 16;
constexpr std::int64_t kManyLargeTiles = 4 * device::kManyTiles;  // of many squares a thread
constexpr std::int64_t kFewestTiles = device::kManyTiles / 2;     // two on every multiprocessor
constexpr int kFewSquares = 4;                                    // a thread
constexpr int kMostLoadedBytes = 128;                             // by a thread of several
constexpr double kLeastGain = 1.06;       // of slots, if sides are no powers of two
constexpr double kLeastGainOfMore = 1.1;  // the same if tiles are also more
constexpr std::int64_t kMostTiles = 2;    // more along a mode than with powers of two
constexpr double kMostEmpty = 1.25;       // slots of a tile's side, per slot of half the side

/// Whether `m` is the contiguous mode, which is not split among several leaves.
bool crosses(const Operand& operand, std::size_t m) {
  const OperandMode &inner = operand.modes.front(), &outer = operand.modes[m];
  return outer.size() == 1 && outer[0].stride.is(1) && !inner[0].stride.is(0) &&
         !inner[0].stride.is(1);
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

/// The least side with which `more` tiles than with `side` have the mode.
int fitted_side(const Dim& extent, int side, int vector, int sector, std::int64_t more) {
  if (!extent.is_known()) return side;
  const std::int64_t tiles = core::ceil_div(extent.value(), std::int64_t{side}) + more;
  const std::int64_t unit = tiles == 1 ? vector : std::max(vector, sector);
  return static_cast<int>(core::ceil_div(core::ceil_div(extent.value(), tiles), unit) * unit);
}

/// Tiles of fewer squares a thread, if multiprocessors have room for more threads. Sides of vectors
/// stay as long as a line of `narrowest` bytes an element; of single elements, there may be more
/// tiles if rows of the shortest ones still fill sectors wherever they begin.
Tile with_more_threads(Tile tile, const std::vector<Dim>& extents, int vector, int narrowest) {
  const int shortest = vector > 1 ? std::max(kMinSide, kLineBytes / narrowest) : kMinSide / 2;
  const std::int64_t few = vector > 1 ? 2 * device::kManyTiles
                           : shortest * narrowest >= 2 * device::kSectorBytes ? kFewestTiles
                                                                              : device::kManyBlocks;
  while (tile.columns / vector * (tile.rows / vector) > kMaxTileThreads &&
         std::max(tile.columns, tile.rows) > shortest && count_tiles(extents, tile) < few)
    (tile.rows >= tile.columns ? tile.rows : tile.columns) /= 2;
  return tile;
}

}  // namespace

std::optional<std::size_t> find_transposed_mode(const std::vector<Operand>& operands,
                                                const std::vector<Dim>& extents, bool merged) {
  const bool plain = std::ranges::all_of(
      operands, [](const Operand& operand) { return operand.modes.front().size() == 1; });
  if (!(plain || merged) || !is_long(extents.front())) return std::nullopt;
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

ComposedLayout shared_layout(const Tile& tile, int vector, int narrowest) {
  const int across = tile.columns / vector, down = tile.rows / vector;
  const bool short_rows = vector > 1 && tile.columns * narrowest < kLineBytes;
  if (short_rows || !std::has_single_bit(static_cast<unsigned>(across))) {
    const Layout rows({vector, down}, {across, vector * across | 1});
    return {Swizzle(0, 0, 0), 0, make_layout({Layout(across, 1), rows})};
  }
  const auto log2 = [](int x) { return std::countr_zero(static_cast<unsigned>(x)); };
  const Swizzle swizzle(log2(across), 0, log2(across * vector));
  return {swizzle, 0, Layout({across, tile.rows}, {1, across})};
}

int narrowest_transposed(const std::vector<Operand>& operands) {
  int narrowest = 8;
  for (const Operand& operand : operands) {
    if (operand.reach == Reach::transposed)
      narrowest = std::min(narrowest, size_bytes(operand.dtype));
  }
  return narrowest;
}

std::int64_t shared_bytes(const std::vector<Operand>& operands, const Tile& tile, int vector) {
  const ComposedLayout vectors = shared_layout(tile, vector, narrowest_transposed(operands));
  std::int64_t bytes = 0;
  for (const Operand& operand : operands) {
    if (operand.reach == Reach::transposed)
      bytes += cosize(vectors.layout()) * vector * size_bytes(operand.dtype);
  }
  return bytes;
}

Tile choose_tile(const std::vector<Operand>& operands, const std::vector<Dim>& extents,
                 std::size_t mode, int vector) {
  const int narrowest = narrowest_transposed(operands);
  const auto is_turned = [](const Operand& operand) {
    return operand.written && operand.reach == Reach::transposed;
  };
  const bool turned = std::ranges::any_of(operands, is_turned);
  int side = std::max(kMinSide, kSideBytes / narrowest);
  // A thread issues at most kMaxAccesses loads per operand, or twice as many pairs if outputs lie
  // in both orders: lines of one and the other are stored in parts.
  const bool pairs =
      turned && vector > 1 && extents.front().is_known() && extents.front().value() > side / 2;
  const int most = kMaxTileThreads * kMaxAccesses * vector * (pairs ? 2 : 1);
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
  const bool long_columns = extents.front().is_known() && extents.front().value() >= 4 * side;
  if (vector == 1 && tile.columns == side && tile.rows > kMinSide && long_columns && !turned) {
    // With several inputs, a thread has enough under way with half as many squares.
    if (std::ranges::count(operands, true, &Operand::read) == 1) tile.columns *= 2;
    tile.rows /= 2;
  }
  const int line = std::max(vector, kLineBytes / narrowest);
  const auto is_too_large = [&] {
    const int longer = std::max(tile.columns, tile.rows);
    const int squares = tile.columns / vector * (tile.rows / vector);
    const std::int64_t count = count_tiles(extents, tile);
    return shared_bytes(operands, tile, vector) > device::kStaticSharedBytes ||
           (longer > line && count <= device::kManyTiles) ||
           (longer > std::max(kMinSide, vector) &&
            (count < kFewestTiles ||
             (squares > kFewSquares * kMaxTileThreads && count < kManyLargeTiles)));
  };
  while (is_too_large()) (tile.rows > tile.columns ? tile.rows : tile.columns) /= 2;
  // What a thread has loaded of several squares, and beside them, takes the registers of others.
  int loaded = 0;  // bytes of an element
  for (const Operand& operand : operands) {
    const bool wide = operand.reach == Reach::transposed || operand.reach == Reach::contiguous;
    if (operand.read && wide && !repeats(operand)) loaded += size_bytes(operand.dtype);
  }
  const auto holds_much = [&] {
    const int elements = tile.columns * tile.rows / kMaxTileThreads;  // of a thread
    return vector > 1 && elements > vector * vector && elements * loaded > kMostLoadedBytes;
  };
  while (holds_much()) (tile.rows >= tile.columns ? tile.rows : tile.columns) /= 2;
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

bool is_small(const Tile& tile, const std::vector<Dim>& extents) {
  const Dim &columns = extents.front(), &rows = extents[tile.mode];
  if (!std::ranges::all_of(extents, &Dim::is_known)) return false;
  Dim elements = 1;
  for (const Dim& extent : extents) elements = elements * extent;
  return columns.value() * rows.value() < kLeastOfMatrix || elements.value() < kLeastOfSpace;
}

bool count_whole_lines(const Tile& tile, int vector, int threads) {
  const int across = tile.columns / vector, down = tile.rows / vector;
  const auto divide = [](int a, int b) { return a % b == 0 || b % a == 0; };
  return divide(threads, across) && divide(threads, down);
}

std::optional<int> threads_of_tile(const Tile& tile, int vector) {
  const int squares = tile.columns / vector * (tile.rows / vector);
  for (int threads = kMaxTileThreads; threads >= kWarp; threads -= kWarp) {
    if (squares % threads == 0 && count_whole_lines(tile, vector, threads)) return threads;
  }
  return std::nullopt;
}

Tile fitted_tile(const Tile& chosen, const std::vector<Operand>& operands,
                 const std::vector<Dim>& extents, int vector) {
  int narrowest = 8;
  for (const Operand& operand : operands)
    narrowest = std::min(narrowest, size_bytes(operand.dtype));
  const Tile tile = with_more_threads(chosen, extents, vector, narrowest);
  if (count_tiles(extents, tile) < kFewestTiles) return tile;
  const auto slots = [&](const Tile& of) {
    double count = 1;
    for (const auto& [m, side] : {std::pair{std::size_t{0}, of.columns}, {of.mode, of.rows}}) {
      if (extents[m].is_known())
        count *= static_cast<double>(core::ceil_div(extents[m].value(), std::int64_t{side}) * side);
    }
    return count;
  };
  const int before = threads_of_tile(tile, vector).value_or(kMaxTileThreads);
  const int sector = device::kSectorBytes / narrowest;
  for (std::int64_t more = 0; more <= kMostTiles; ++more) {
    const double gain = more == 0 ? kLeastGain : kLeastGainOfMore;
    int columns = fitted_side(extents.front(), tile.columns, vector, sector, more);
    const int end = more == 0 ? tile.columns : std::min(tile.columns, columns + vector);
    for (; columns < end && 2 * columns > tile.columns; columns += vector) {
      Tile fitted = tile;
      const int step = std::max(vector, sector);
      for (fitted.columns = columns; 2 * fitted.rows > tile.rows; fitted.rows -= step) {
        const std::optional<int> threads = threads_of_tile(fitted, vector);
        if (threads && 2 * *threads >= before && slots(fitted) * gain < slots(tile)) return fitted;
      }
    }
  }
  return tile;
}

}  // namespace tilejit::plan
