#include "wgmma/tile_choice.hpp"

#include <algorithm>

#include "core/integer.hpp"
#include "device/device.hpp"
#include "device/warpgroup_costs.hpp"

namespace tilejit::plan {
namespace {

constexpr std::int64_t kLarge = 8192;  // elements, of an extent that is a symbol
constexpr int kBytesOfStep = 128;      // of K
constexpr int kStepsOfStage = 4;       // instructions along K
constexpr int kPanel = 64;             // columns of a box of 16-bit elements that lie along N

/// Rows of a tile, the warpgroups of a block, each with 64 or 128 rows, and the most columns for
/// which registers last; those of a pair also hold two sums for each place of a panel.
struct Rows {
  int m = 0, consumers = 1, most_columns = 256, most_of_pair = 256;
  bool takes_turns = false;
};
constexpr Rows kRows[] = {
    {64, 1, 256, 256}, {128, 2, 256, 256}, {192, 3, 192, 128}, {256, 2, 160, 128}};

struct Size {
  std::int64_t m, n, k, batch;
};

class Ranking {
 public:
  explicit Ranking(const WgmmaProblem& problem)
      : problem_(problem),
        size_{problem.size.m.value_or(kLarge), problem.size.n.value_or(kLarge),
              problem.size.k.value_or(kLarge), problem.size.batch.value_or(1)},
        multiprocessors_(device::device_of(problem.target).multiprocessors) {}

  std::vector<WgmmaTile> run() {
    for (const bool swapped : {false, true}) {
      if (problem_.swapped.value_or(swapped) != swapped) continue;
      for (const Rows& rows : kRows) {
        const int most = problem_.products == 1 ? rows.most_columns : rows.most_of_pair;
        for (int n = 16; n <= most; n += 8) {
          for (const int cluster : {1, 2}) add(rows, n, cluster, swapped);
        }
      }
    }
    const auto volume = [](const WgmmaTile& tile) { return tile.m * tile.n; };
    std::ranges::stable_sort(tiles_, [&](const WgmmaTile& x, const WgmmaTile& y) {
      return x.clocks != y.clocks ? x.clocks < y.clocks : volume(x) > volume(y);
    });
    return std::move(tiles_);
  }

 private:
  void add(const Rows& rows, int columns, int cluster, bool swapped) {
    const int products = problem_.products, n = columns / products;
    if (columns % step_of(cluster, swapped) != 0 || n % problem_.multiple != 0) return;
    if (problem_.integer && columns > 32 && columns % 16 != 0) return;
    const std::int64_t tiles_m = core::ceil_div(swapped ? size_.n : size_.m, rows.m);
    if (cluster > tiles_m) return;
    WgmmaTile tile{.m = rows.m,
                   .n = n,
                   .consumers = rows.consumers,
                   .cluster = cluster,
                   .swapped = swapped,
                   .takes_turns = rows.takes_turns};
    tile.clocks = clocks(tile, tiles_m);
    tiles_.push_back(tile);
  }

  /// Of columns: whole rows of the swizzle come from each block and for each product; and what
  /// lies along N comes in panels, of which products share none.
  [[nodiscard]] int step_of(int cluster, bool swapped) const {
    if (is_along_k(swapped)) return 8 * std::max(cluster, problem_.products);
    return problem_.products == 1 ? 8 : kPanel * problem_.products;
  }

  [[nodiscard]] double clocks(const WgmmaTile& tile, std::int64_t tiles_m) const {
    const std::int64_t tiles_n = core::ceil_div(swapped_n(tile), tile.n);
    const std::int64_t groups = core::ceil_div(tiles_m, tile.cluster) * tiles_n * size_.batch;
    const std::int64_t waves = core::ceil_div(groups, multiprocessors_ / tile.cluster);
    const auto steps =
        static_cast<double>(core::ceil_div(size_.k * problem_.element_bytes, kBytesOfStep));
    const double sums = static_cast<double>(tile.m) * columns(tile);
    const double of_sums = problem_.along_m != tile.swapped ? costs_.turned
                           : problem_.through_vectors       ? costs_.through_vectors
                                                            : 1;
    const double formula = costs_.of_sums * of_sums * sums / (128 * 256);
    const double product = steps * clocks_of_step(tile) * (1 + costs_.of_traffic * traffic(tile));
    // Warpgroups that take turns hide all but the last formula, if products take longer.
    const double all =
        tile.takes_turns
            ? static_cast<double>(waves) * std::max(product, formula) + costs_.before_tile + formula
            : static_cast<double>(waves) * (product + costs_.before_tile + formula);
    return costs_.launch + std::max(all, memory_clocks(problem_) + all * costs_.beside_memory);
  }

  [[nodiscard]] double clocks_of_step(const WgmmaTile& tile) const {
    const double instructions = tile.m / 64.0 * kStepsOfStage;
    const double of_one = columns(tile) / 2.0, of_memory = 16 + columns(tile) / 4.0;
    if (tile.consumers == 1) return instructions * (std::max(of_one, of_memory) + costs_.alone);
    const bool two = tile.m / (tile.takes_turns ? 1 : tile.consumers) > 64;  // of a warpgroup
    return instructions * std::max(of_one * costs_.beside_products, of_memory) *
           (two ? costs_.of_two : 1);
  }

  /// Elements that a multiplication-addition brings from the second-level cache.
  [[nodiscard]] double traffic(const WgmmaTile& tile) const {
    const int n = columns(tile);
    const double loaded = is_along_k(tile.swapped) ? n : (n + kPanel - 1) / kPanel * kPanel;
    return 1.0 / n + loaded / n / (tile.m * tile.cluster);
  }
  /// Of an instruction.
  [[nodiscard]] int columns(const WgmmaTile& tile) const { return tile.n * problem_.products; }
  /// Of the operand that has the tile's columns; else whole panels of 64 are loaded.
  [[nodiscard]] bool is_along_k(bool swapped) const {
    return (swapped ? problem_.a : problem_.b) == atoms::Major::k;
  }
  [[nodiscard]] std::int64_t swapped_n(const WgmmaTile& tile) const {
    return tile.swapped ? size_.m : size_.n;
  }

  const WgmmaProblem& problem_;
  const Size size_;
  const int multiprocessors_;
  const device::WarpgroupCosts costs_ = {};
  std::vector<WgmmaTile> tiles_;
};

}  // namespace

double memory_clocks(const WgmmaProblem& problem) {
  const auto number = [](const std::optional<std::int64_t>& extent) {
    return static_cast<double>(extent.value_or(kLarge));
  };
  const double m = number(problem.size.m), n = number(problem.size.n), k = number(problem.size.k);
  // Of a pair, one operand is read once.
  const double shared = problem.swapped.value_or(false) ? n : m;
  const double elements = (m + n) * problem.products - shared * (problem.products - 1);
  const double bytes = elements * k * problem.element_bytes + m * n * problem.output_bytes;
  return bytes * static_cast<double>(problem.size.batch.value_or(1)) /
         device::WarpgroupCosts().bytes_in_clock;
}

std::vector<WgmmaTile> ranked_tiles(const WgmmaProblem& problem) {
  return Ranking(problem).run();
}

}  // namespace tilejit::plan
