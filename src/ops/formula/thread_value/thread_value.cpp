#include "thread_value/thread_value.hpp"

#include <algorithm>

#include "tilejit/error.hpp"
#include "tilejit/tv.hpp"

namespace tilejit::plan {
namespace {

constexpr int kMostNeighbours = 16;

/// Coordinates of a layout's elements in a tile.
class TileCoordinates {
 public:
  TileCoordinates(const IntTuple& tiler, const Layout& indices) : indices_(indices) {
    for (std::size_t i = 0; i < rank(tiler); ++i) {
      extents_.push_back(product(mode(tiler, i)).value());
    }
  }
  /// The coordinate of the layout's element `i` along mode `mode` of the tile.
  [[nodiscard]] std::int64_t along(std::size_t mode, std::int64_t i) const {
    std::int64_t index = indices_(i);
    for (std::size_t before = 0; before < mode; ++before) index /= extents_[before];
    return index % extents_[mode];
  }
  [[nodiscard]] std::int64_t count() const { return size(indices_).value(); }
  [[nodiscard]] std::size_t modes() const noexcept { return extents_.size(); }

 private:
  Layout indices_;
  std::vector<std::int64_t> extents_;
};

/// Whether each group of `run` values of a thread are neighbours along `mode` and start at a
/// multiple of `run`.
bool are_neighbours(const TileCoordinates& values, std::size_t mode, int run) {
  if (values.count() % run != 0) return false;
  for (std::int64_t v = 0; v < values.count(); ++v) {
    const std::int64_t first = v - v % run;
    for (std::size_t m = 0; m < values.modes(); ++m) {
      const std::int64_t step = m == mode ? v % run : 0;
      if (values.along(m, v) != values.along(m, first) + step) return false;
    }
    if (values.along(mode, first) % run != 0) return false;
  }
  return true;
}

bool are_multiples(const TileCoordinates& threads, std::size_t mode, int run) {
  for (std::int64_t t = 0; t < threads.count(); ++t) {
    if (threads.along(mode, t) % run != 0) return false;
  }
  return true;
}

struct Run {
  std::size_t mode = 0;
  int length = 1;
};

/// The longest run whose length is a power of two; along the last mode if there is no run.
Run longest_run(const IntTuple& tiler, const Layout& tv) {
  const TileCoordinates threads(tiler, mode(tv, 0)), values(tiler, mode(tv, 1));
  for (int length = kMostNeighbours; length > 1; length /= 2) {
    for (std::size_t m = values.modes(); m-- > 0;) {
      if (are_neighbours(values, m, length) && are_multiples(threads, m, length)) {
        return {m, length};
      }
    }
  }
  return {values.modes() - 1, 1};
}

}  // namespace

ThreadValue plan_thread_value(const ThreadValueLayouts& layouts, std::size_t rank, bool reduces) {
  if (reduces) {
    throw Error(ErrorCode::unsupported,
                "a thread-value layout cannot be given for a formula that reduces; remove tv",
                "/tv");
  }
  const LayoutTV tv = make_layout_tv(layouts.thr, layouts.val);
  const std::size_t tile_rank = tilejit::rank(tv.tiler), axes = std::max<std::size_t>(rank, 1);
  if (tile_rank > axes) {
    throw Error(ErrorCode::invalid_spec,
                "the tile " + to_string(tv.tiler) +
                    " of tv has more modes than the space has "
                    "axes, " +
                    std::to_string(rank) + "; give thr and val as many or fewer",
                "/tv");
  }
  const Run run = longest_run(tv.tiler, tv.layout_tv);
  ThreadValue result{.tiler = tv.tiler, .layout = tv.layout_tv, .modes = {}, .run = run.length};
  const std::size_t first = axes - tile_rank + run.mode;  // the axis that becomes mode 0
  for (std::size_t i = 0; i < tile_rank; ++i) {
    const std::size_t axis = axes - tile_rank + i;
    result.modes.push_back(axis == first ? 0 : axes - 1 - axis + (axis > first ? 1 : 0));
  }
  return result;
}

std::vector<std::size_t> axes_of_modes(const ThreadValue& tv, std::size_t rank) {
  if (rank == 0) return {};
  std::vector<std::size_t> axes;
  for (std::size_t axis = rank; axis-- > 0;) axes.push_back(axis);
  const std::size_t tile_rank = tv.modes.size();
  for (std::size_t i = 0; i < tile_rank; ++i) {
    if (tv.modes[i] != 0) continue;
    const std::size_t first = rank - tile_rank + i;
    std::erase(axes, first);
    axes.insert(axes.begin(), first);
  }
  return axes;
}

std::int64_t tile_extent(const ThreadValue& tv, std::size_t m) noexcept {
  for (std::size_t i = 0; i < tv.modes.size(); ++i) {
    if (tv.modes[i] == m) return product(mode(tv.tiler, i)).factor();
  }
  return 1;
}

void check_run(const ThreadValue& tv, int vector) {
  if (vector <= tv.run) return;
  throw Error(ErrorCode::invalid_spec,
              "of the values of tv.val only " + std::to_string(tv.run) +
                  " are neighbours along one axis; use vectors of as many, or other values",
              "/tuning/vector");
}

int vectors_at_once(const ThreadValue& tv, int vector, std::optional<int> asked, int most) {
  const auto vectors = static_cast<int>(size(mode(tv.layout, 1)).value() / vector);
  if (asked && vectors % *asked != 0) {
    throw Error(ErrorCode::invalid_spec,
                "the " + std::to_string(vectors) + " vectors of a thread cannot be taken " +
                    std::to_string(*asked) + " at a time; use a divisor",
                "/tuning/unroll");
  }
  int unroll = asked.value_or(std::min(most, vectors));
  while (vectors % unroll != 0) --unroll;
  return unroll;
}

}  // namespace tilejit::plan
