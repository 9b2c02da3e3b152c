#include "wgmma/tile_choice.hpp"

#include <algorithm>

#include "core/integer.hpp"
#include "device/device.hpp"
#include "device/warpgroup_costs.hpp"

namespace tilejit::plan {
namespace {

constexpr std::int64_t kLarge = 8192;    // elements, of an extent that is a symbol
constexpr int kBytesOfStep = 128;        // of K
constexpr int kStepsOfStage = 4;         // instructions along K
constexpr int kMostOfCluster = 8;        // blocks
constexpr std::int64_t kLeastSteps = 2;  // of a part of K
constexpr int kTogether = 16;            // multiprocessors of which clusters are formed

/// Rows of a tile, the warpgroups of a block, each with 64 or 128 rows, and the most columns for
/// which registers last.
struct Rows {
  int m = 0, consumers = 1, most_columns = 256;
  bool takes_turns = false;
};
constexpr Rows kRows[] = {{64, 1, 256}, {128, 2, 256}, {192, 3, 192}, {256, 2, 160}};

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
      for (const Rows& rows : kRows) {
        for (int n = 16; n <= rows.most_columns; n += 8) {
          for (const int cluster : {1, 2}) add(rows, n, cluster, swapped);
          if (may_split()) add_splits(rows, n, swapped);
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
  [[nodiscard]] bool may_split() const {
    const ProductSize& size = problem_.size;
    return size.m && size.n && size.k && size.batch;
  }
  void add_splits(const Rows& rows, int n, bool swapped) {
    for (const int cluster : {1, 2}) {
      for (int splits = 2; splits * cluster <= kMostOfCluster; ++splits) {
        if (steps() < splits * kLeastSteps) break;
        add(rows, n, cluster, swapped, splits);
      }
    }
  }

  void add(const Rows& rows, int n, int cluster, bool swapped, int splits = 1) {
    const int step = is_along_k(swapped) ? 8 * cluster : 8;  // whole rows of the swizzle
    if (n % step != 0 || n % problem_.multiple != 0) return;
    if (problem_.integer && n > 32 && n % 16 != 0) return;
    const std::int64_t tiles_m = core::ceil_div(swapped ? size_.n : size_.m, rows.m);
    if (cluster > tiles_m) return;
    WgmmaTile tile{.m = rows.m,
                   .n = n,
                   .consumers = rows.consumers,
                   .cluster = cluster,
                   .splits = splits,
                   .swapped = swapped,
                   .takes_turns = rows.takes_turns};
    tile.clocks = clocks(tile, tiles_m);
    tiles_.push_back(tile);
  }

  [[nodiscard]] double clocks(const WgmmaTile& tile, std::int64_t tiles_m) const {
    const std::int64_t tiles_n = core::ceil_div(swapped_n(tile), tile.n);
    const std::int64_t groups = core::ceil_div(tiles_m, tile.cluster) * tiles_n * size_.batch;
    const std::int64_t waves = core::ceil_div(groups, clusters_of(tile.cluster * tile.splits));
    const auto steps = static_cast<double>(core::ceil_div(this->steps(), tile.splits));
    const double sums = static_cast<double>(tile.m) * tile.n;
    const double of_sums = problem_.along_m != tile.swapped ? costs_.turned
                           : problem_.through_vectors       ? costs_.through_vectors
                                                            : 1;
    const int warps = 4 * tile.consumers, adding = (warps + tile.splits - 1) / tile.splits;
    const double formula = costs_.of_sums * of_sums * sums / (128 * 256) * adding / warps;
    const double gathered = adding * (tile.splits - 1) * sums / warps * 4;  // bytes
    const double split =
        tile.splits == 1 ? 0 : costs_.of_split + gathered / costs_.gathered_in_clock;
    const double product = steps * clocks_of_step(tile) * (1 + costs_.of_traffic * traffic(tile));
    // Warpgroups that take turns hide all but the last formula, if products take longer.
    const double all =
        tile.takes_turns
            ? static_cast<double>(waves) * std::max(product, formula) + costs_.before_tile + formula
            : static_cast<double>(waves) * (product + costs_.before_tile + formula + split);
    return costs_.launch + std::max(all, memory_clocks(problem_) + all * costs_.beside_memory);
  }

  /// Of the whole of K.
  [[nodiscard]] std::int64_t steps() const {
    return core::ceil_div(size_.k * problem_.element_bytes, kBytesOfStep);
  }
  /// How many clusters of that many blocks there are at once. Blocks of a cluster are on
  /// multiprocessors that belong together.
  [[nodiscard]] int clusters_of(int blocks) const {
    if (blocks <= 2) return multiprocessors_ / blocks;
    return multiprocessors_ / kTogether * (kTogether / blocks);
  }

  [[nodiscard]] double clocks_of_step(const WgmmaTile& tile) const {
    const double instructions = tile.m / 64.0 * kStepsOfStage;
    const double of_one = tile.n / 2.0, of_memory = 16 + tile.n / 4.0;
    if (tile.consumers == 1) return instructions * (std::max(of_one, of_memory) + costs_.alone);
    const bool two = tile.m / (tile.takes_turns ? 1 : tile.consumers) > 64;  // of a warpgroup
    return instructions * std::max(of_one * costs_.beside_products, of_memory) *
           (two ? costs_.of_two : 1);
  }

  /// Elements that a multiplication-addition brings from the second-level cache.
  [[nodiscard]] double traffic(const WgmmaTile& tile) const {
    const double loaded = is_along_k(tile.swapped) ? tile.n : (tile.n + 63) / 64 * 64;
    return 1.0 / tile.n + loaded / tile.n / (tile.m * tile.cluster);
  }
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
  const double bytes = (m + n) * k * problem.element_bytes + m * n * problem.output_bytes;
  return bytes * static_cast<double>(problem.size.batch.value_or(1)) /
         device::WarpgroupCosts().bytes_in_clock;
}

std::vector<WgmmaTile> ranked_tiles(const WgmmaProblem& problem) {
  return Ranking(problem).run();
}

}  // namespace tilejit::plan
