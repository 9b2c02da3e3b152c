#include "wgmma/tile_choice.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "core/integer.hpp"
#include "device/device.hpp"
#include "device/warpgroup_costs.hpp"

namespace tilejit::plan {
namespace {

constexpr std::int64_t kLarge = 8192;  // elements, of an extent that is a symbol
constexpr int kBytesOfStep = 128;      // of K
constexpr int kStepsOfStage = 4;       // instructions along K
constexpr int kPanel = 64;             // columns of a box of 16-bit elements that lie along N
constexpr int kLeastRowsOfBox = 8;
constexpr double kManyWaves = 4, kLeftFree = 0.3;
constexpr int kMostOfCluster = 8;        // blocks
constexpr std::int64_t kLeastSteps = 2;  // of a part of K
/// Percent of the multiprocessors that have blocks of clusters of that many, measured on an H200.
constexpr int kPartInClusters[] = {0, 100, 100, 89, 91, 84, 78, 80, 91};

/// Rows of a tile, the warpgroups of a block, each with 64 or 128 rows, and the most columns for
/// which registers last; those of a pair also hold two sums for each place of a panel.
struct Rows {
  int m = 0, consumers = 1, most_columns = 256, most_of_pair = 256;
  bool takes_turns = false;
};
constexpr Rows kRows[] = {{64, 1, 256, 256},
                          {128, 2, 256, 256},
                          {192, 3, 192, 128},
                          {256, 2, 160, 128},
                          {128, 2, 128, 0, true}};

/// Blocks below each other, which share columns, and beside each other, which share rows.
struct Sharing {
  int cluster, beside;
};
constexpr Sharing kSharings[] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}, {1, 4}, {4, 2}, {2, 4}};

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
        if (rows.takes_turns && problem_.statistic) continue;
        if (problem_.loads_a && (rows.takes_turns || rows.m > 64 * rows.consumers)) continue;
        const int most = problem_.products == 1 ? rows.most_columns : rows.most_of_pair;
        for (int n = 16; n <= most; n += 8) {
          for (const Sharing& sharing : kSharings) {
            add(rows, n, sharing, swapped);
            if (may_split() && !rows.takes_turns) add_splits(rows, n, sharing, swapped);
          }
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
    return size.m && size.n && size.k && size.batch && problem_.products == 1 &&
           !problem_.statistic;
  }
  void add_splits(const Rows& rows, int n, const Sharing& sharing, bool swapped) {
    for (int splits = 2; splits * sharing.cluster * sharing.beside <= kMostOfCluster; ++splits) {
      if (steps() < splits * kLeastSteps) break;
      add(rows, n, sharing, swapped, splits);
    }
  }

  void add(const Rows& rows, int columns, const Sharing& sharing, bool swapped, int splits = 1) {
    const int products = problem_.products, n = columns / products, cluster = sharing.cluster;
    if (columns % step_of(cluster, swapped) != 0 || n % problem_.multiple != 0) return;
    if (problem_.integer && columns > 32 && columns % 16 != 0) return;
    const std::int64_t tiles_m = core::ceil_div(extent_m(swapped), rows.m);
    const std::int64_t tiles_n = core::ceil_div(extent_n(swapped), n);
    if (cluster > tiles_m || sharing.beside > tiles_n) return;
    // In a cluster of rows and columns each block has a box (tile/warpgroup_producer.cuh).
    const bool along_k = major(swapped) == atoms::Major::k;
    if (along_k && sharing.beside > 1 && cluster > 1 && columns < kLeastRowsOfBox * cluster) return;
    WgmmaTile tile{.m = rows.m,
                   .n = n,
                   .consumers = rows.consumers,
                   .cluster = cluster,
                   .beside = sharing.beside,
                   .splits = splits,
                   .swapped = swapped,
                   .takes_turns = rows.takes_turns};
    tile.clocks = clocks(tile, tiles_m);
    tiles_.push_back(tile);
  }

  /// Of columns: whole rows of the swizzle come from each block and for each product; and what
  /// lies along N comes in panels, of which products share none.
  [[nodiscard]] int step_of(int cluster, bool swapped) const {
    if (major(swapped) == atoms::Major::k) {
      return problem_.products == 1 ? 8 : 8 * std::max(cluster, problem_.products);
    }
    return problem_.products == 1 ? 8 : kPanel * problem_.products;
  }

  /// How many tiles there are, and how many blocks have one at once.
  struct Grid {
    std::int64_t tiles_m, tiles_n;
    double waves, blocks;
  };
  [[nodiscard]] Grid grid_of(const WgmmaTile& tile, std::int64_t tiles_m) const {
    const std::int64_t tiles_n = core::ceil_div(extent_n(tile.swapped), tile.n);
    const std::int64_t groups =
        core::ceil_div(tiles_m, tile.cluster) * core::ceil_div(tiles_n, tile.beside) * size_.batch;
    const int each = tile.cluster * tile.beside * tile.splits;
    const std::int64_t waves = core::ceil_div(groups, clusters_of(each));
    const double part = static_cast<double>(groups) / clusters_of(each);  // of a wave, and more
    // What the last one of many waves leaves free makes the others faster: power is limited.
    const auto all = static_cast<double>(waves);
    const double taken = part > kManyWaves ? all - kLeftFree * (all - part) : all;
    return {tiles_m, tiles_n, taken, static_cast<double>(groups) / all * each};
  }

  [[nodiscard]] double clocks(const WgmmaTile& tile, std::int64_t tiles_m) const {
    const Grid grid = grid_of(tile, tiles_m);
    const double waves = grid.waves;
    const auto steps = static_cast<double>(core::ceil_div(this->steps(), tile.splits));
    const double step = clocks_of_step(tile, grid.blocks);
    const double product = steps * step * of_many_waves(tile, waves), formula = of_sums(tile);
    // Warpgroups that take turns hide most of the formula, if products take longer.
    const double compute = tile.takes_turns
                               ? waves * std::max(product + costs_.not_hidden * formula, formula) +
                                     costs_.before_tile + formula
                               : waves * (product + costs_.before_tile + formula + of_split(tile));
    const double memory = of_memory(tile, grid);
    const bool alone = tile.cluster * tile.beside == 1;
    const double sharing =
        alone ? 0 : costs_.of_sharing * (tile.splits > 1 ? costs_.sharing_beside_splits : 1);
    const double waiting = waves > 1 ? 0 : this->waiting(tile, grid.blocks, steps, step);
    return costs_.launch + sharing + std::max(compute + waiting, memory) +
           costs_.beside_memory * std::min(compute, memory);
  }

  /// Clusters of many blocks leave some multiprocessors out. In many waves they pay only if rows
  /// of operands are split, and then less than in one.
  [[nodiscard]] double of_many_waves(const WgmmaTile& tile, double waves) const {
    if (tile.cluster * tile.beside <= 2) return 1;
    if (problem_.a_split || problem_.b_split) return waves > 1 ? costs_.of_waves_of_split_rows : 1;
    return waves > kManyWaves ? costs_.of_many_waves : 1;
  }

  /// The formula, in the warps of a block that have sums.
  [[nodiscard]] double of_sums(const WgmmaTile& tile) const {
    const bool turned = problem_.along_m != tile.swapped;
    const bool vectors = turned ? problem_.turned_through_vectors : problem_.through_vectors;
    const double of_path = !vectors ? costs_.of_sums * (turned ? costs_.turned_words : 1)
                           : turned ? costs_.turned
                                    : costs_.through_vectors;
    const double each = of_path + costs_.of_formula * static_cast<double>(problem_.formula);
    // Panels of 64 columns (tile/sums_by_words.cuh).
    const int columns = vectors ? this->columns(tile) : in_panels(this->columns(tile));
    return each * tile.m * columns / (128 * 256) * adding(tile) / warps(tile);
  }
  [[nodiscard]] double of_split(const WgmmaTile& tile) const {
    if (tile.splits == 1) return 0;
    const double bytes =
        4.0 * tile.m * columns(tile) * adding(tile) / warps(tile) * (tile.splits - 1);
    return costs_.of_split + bytes / costs_.gathered_in_clock;
  }
  static int warps(const WgmmaTile& tile) { return 4 * tile.consumers; }
  /// Those that add the sums of all parts of K.
  static int adding(const WgmmaTile& tile) { return (warps(tile) + tile.splits - 1) / tile.splits; }

  /// Operands once, a part of that again for each time that tiles read them, and the result.
  [[nodiscard]] double of_memory(const WgmmaTile& tile, const Grid& grid) const {
    constexpr double kMostTimes = 4;
    const auto times = [&](double bytes, std::int64_t tiles) {
      const double again = std::min(static_cast<double>(tiles), kMostTimes) - 1;
      return again * costs_.read_again * bytes / (bytes + costs_.large) * bytes;
    };
    const auto k = static_cast<double>(size_.k) * problem_.element_bytes;
    const double of_m = static_cast<double>(extent_m(tile.swapped)) * k,
                 of_n = static_cast<double>(extent_n(tile.swapped)) * k;
    const std::int64_t groups_m = core::ceil_div(grid.tiles_m, tile.cluster),
                       groups_n = core::ceil_div(grid.tiles_n, tile.beside);
    const double again = times(of_m, groups_n) + times(of_n, groups_m);
    return memory_clocks(problem_) +
           again * static_cast<double>(size_.batch) / costs_.bytes_in_clock;
  }

  /// Of the whole of K.
  [[nodiscard]] std::int64_t steps() const {
    return core::ceil_div(size_.k * problem_.element_bytes, kBytesOfStep);
  }
  /// How many clusters of that many blocks there are at once: blocks of a cluster are on
  /// multiprocessors of one group, and not all groups have as many.
  [[nodiscard]] int clusters_of(int blocks) const {
    return multiprocessors_ * kPartInClusters[blocks] / (100 * blocks);
  }

  /// Little more than the slowest of products, of the second-level cache, of the rows that a block
  /// asks for, and of what arrives in its shared memory.
  [[nodiscard]] double clocks_of_step(const WgmmaTile& tile, double blocks) const {
    const double instructions = tile.m / 64.0 * kStepsOfStage;
    const bool two = tile.m / (tile.takes_turns ? 1 : tile.consumers) > 64;  // of a warpgroup
    const double n = columns(tile);                                          // of an instruction
    const double instruction =
        std::max(n / 2, costs_.before_product + n / 4) + (tile.consumers == 1 ? costs_.alone : 0);
    const double multiplying = instructions * instruction * (two ? costs_.of_two : 1) *
                               (tile.takes_turns ? costs_.of_turns : 1);
    const double product = beside_statistic(tile, multiplying);
    const double own = tile.m, shared = loaded(tile);  // rows
    const double own_asked = own / tile.beside, shared_asked = shared / tile.cluster;
    const bool own_split = is_split(!tile.swapped, tile.m);
    const bool shared_split = is_split(tile.swapped, columns(tile));
    const auto times = [](bool split, double by) { return split ? by : 1; };
    const double asked = own_asked * times(own_split, costs_.level2_of_split_rows) +
                         shared_asked * times(shared_split, costs_.level2_of_split_rows);
    const double issued = own_asked * times(own_split, costs_.asked_of_split_rows) +
                          shared_asked * times(shared_split, costs_.asked_of_split_rows);
    const double traffic = 1 / n / tile.beside + shared / n / (tile.m * tile.cluster);
    return together({product * (1 + costs_.of_traffic * traffic),
                     blocks * kBytesOfStep * asked / costs_.level2_in_clock,
                     issued / costs_.asked_in_clock,
                     kBytesOfStep * (own + shared) / costs_.loaded_in_clock});
  }

  /// Clocks for which products wait in one wave, in which clusters ask for the same rows at once,
  /// if the second-level cache gives fewer than they take. What the ring holds has been asked for
  /// ahead.
  [[nodiscard]] double waiting(const WgmmaTile& tile, double blocks, double steps,
                               double step) const {
    if (tile.cluster * tile.beside == 1 || tile.splits > 1) return 0;
    const double rows = tile.m + loaded(tile);
    const double asked = static_cast<double>(tile.m) / tile.beside + loaded(tile) / tile.cluster;
    const double beyond_ring = steps - costs_.ring / (rows * kBytesOfStep);
    const double least = blocks * kBytesOfStep * asked / costs_.level2_of_clusters_in_clock;
    return std::max(beyond_ring, 0.0) * std::max(least - step, 0.0);
  }

  /// What takes these clocks side by side.
  static double together(std::initializer_list<double> all) {
    double sum = 0;
    for (const double clocks : all) sum += clocks * clocks * clocks;
    return std::cbrt(sum);
  }

  /// All warps of a multiprocessor share the instructions that reduce rows. The only warpgroup
  /// issues no product while it reduces its own.
  [[nodiscard]] double beside_statistic(const WgmmaTile& tile, double product) const {
    if (!problem_.statistic) return product;
    const double statistic = costs_.of_statistic * tile.m / 64.0;
    return tile.consumers == 1 ? product + costs_.statistic_alone * statistic
                               : std::max(product, statistic);
  }

  /// Of an instruction.
  [[nodiscard]] int columns(const WgmmaTile& tile) const { return tile.n * problem_.products; }
  /// Columns that a step brings: whole panels, unless they lie along K.
  [[nodiscard]] double loaded(const WgmmaTile& tile) const {
    return major(tile.swapped) == atoms::Major::k ? columns(tile) : in_panels(columns(tile));
  }
  static int in_panels(int columns) { return (columns + kPanel - 1) / kPanel * kPanel; }
  /// Whether rows of 128 bytes that a tile reads lie in two lines of a cache each.
  [[nodiscard]] bool is_split(bool left, int extent) const {
    const bool rows = left ? problem_.a_split : problem_.b_split;
    const bool along_k = major(left) == atoms::Major::k;
    return rows || (!along_k && extent * problem_.element_bytes % kBytesOfStep != 0);
  }
  [[nodiscard]] atoms::Major major(bool left) const { return left ? problem_.a : problem_.b; }
  [[nodiscard]] std::int64_t extent_m(bool swapped) const { return swapped ? size_.n : size_.m; }
  [[nodiscard]] std::int64_t extent_n(bool swapped) const { return swapped ? size_.m : size_.n; }

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
