#include "box/requests.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "box/walks.hpp"
#include "core/integer.hpp"
#include "device/access.hpp"
#include "plan/vectors.hpp"

namespace tilejit::plan {
namespace {

constexpr std::int64_t kLanes = 32, kBanks = 32;
constexpr std::int64_t kWarpsOfMap = 8, kWarpsOfWalk = 6;  // that are looked at
constexpr double kCyclesOfChunk = 8;    // to load 16 bytes a lane, and to put four words
constexpr double kCyclesOfWarp = 8;     // to start a warp and to number what it takes
constexpr double kCyclesOfBlock = 200;  // between the starts of two blocks
constexpr double kCyclesOfMode = 2;     // to find the coordinates of a warp's vectors along a mode
constexpr double kCyclesOfChoice = 0.75;  // between the two rows that an element may lie in

/// Lines or words that a request touches; no allocation, since plans are made for each launch that
/// the cache serves.
class Numbers {
 public:
  void push_back(std::int64_t number) { numbers_[count_++] = number; }
  [[nodiscard]] std::span<std::int64_t> all() { return std::span(numbers_).first(count_); }
  /// Returns how many there are.
  std::int64_t keep_distinct() {
    std::ranges::sort(all());
    // std::ranges::unique gives a subrange, which clang 14 cannot compile
    const auto kept = all();
    count_ = static_cast<std::size_t>(std::unique(kept.begin(), kept.end()) - kept.begin());
    return static_cast<std::int64_t>(count_);
  }

 private:
  std::array<std::int64_t, 4 * kLanes> numbers_;  // a lane's piece has 128 bytes or less
  std::size_t count_ = 0;
};

/// What one request of a warp touches: at most one piece of memory per lane.
class Request {
 public:
  void add(std::int64_t offset, std::int64_t bytes) {
    pieces_[static_cast<std::size_t>(count_++)] = {offset, bytes};
  }
  [[nodiscard]] bool is_empty() const { return count_ == 0; }

  /// The aligned units of `unit` bytes that the pieces lie in.
  [[nodiscard]] std::int64_t units_of(std::int64_t unit) const {
    Numbers units;
    for (std::int64_t i = 0; i < count_; ++i) {
      const auto& [offset, bytes] = pieces_[static_cast<std::size_t>(i)];
      for (std::int64_t at = offset / unit; at * unit < offset + bytes; ++at) units.push_back(at);
    }
    return units.keep_distinct();
  }
  [[nodiscard]] std::int64_t lines() const { return units_of(device::kLineBytes); }
  /// The sectors beyond those that as many bytes side by side lie in.
  [[nodiscard]] std::int64_t cut_sectors() const {
    std::int64_t bytes = 0;
    for (std::int64_t i = 0; i < count_; ++i) bytes += pieces_[static_cast<std::size_t>(i)].bytes;
    return units_of(device::kSectorBytes) - core::ceil_div(bytes, device::kSectorBytes);
  }
  /// Lines; or, of a store, half of the sectors that it has only parts of, if these are more: the
  /// cache below takes two in a cycle.
  [[nodiscard]] std::int64_t cycles(bool written) const {
    return written ? std::max(lines(), cut_sectors() / 2) : lines();
  }

  /// The most words of one bank of shared memory.
  [[nodiscard]] std::int64_t words_of_bank() const {
    Numbers words;
    for (std::int64_t i = 0; i < count_; ++i) {
      const auto& [offset, bytes] = pieces_[static_cast<std::size_t>(i)];
      for (std::int64_t at = offset / device::kBankBytes; at * device::kBankBytes < offset + bytes;
           ++at) {
        words.push_back(at);
      }
    }
    words.keep_distinct();
    std::array<std::int64_t, kBanks> of_bank{};
    for (const std::int64_t word : words.all()) ++of_bank[static_cast<std::size_t>(word % kBanks)];
    return *std::ranges::max_element(of_bank);
  }

 private:
  struct Piece {
    std::int64_t offset, bytes;
  };
  std::array<Piece, kLanes> pieces_;
  std::int64_t count_ = 0;
};

using Coordinates = std::vector<std::int64_t>;

std::int64_t offset_of(const Operand& operand, const Coordinates& at) {
  std::int64_t offset = 0;
  for (std::size_t m = 0; m < at.size(); ++m) {
    const OperandMode& leaves = operand.modes[m];
    std::int64_t rest = at[m];
    for (std::size_t i = 0; i + 1 < leaves.size(); ++i) {
      offset += rest % leaves[i].extent.value() * leaves[i].stride.value();
      rest /= leaves[i].extent.value();
    }
    offset += rest * leaves.back().stride.value();
  }
  return offset * size_bytes(operand.dtype);
}

/// Sets `at` to where thread t begins, within the box. Modes that the walk leaves out stay 0.
void begin_of(const Walk& walk, std::int64_t t, Coordinates& at) {
  for (std::size_t i = 0; i < walk.modes.size(); ++i) {
    at[walk.modes[i]] = t % walk.threads[i] * (i == 0 ? walk.vector : 1);
    t /= walk.threads[i];
  }
}

/// Whether vectors of a flat map are whole rows of an operand: the compiler knows where these lie.
bool has_whole_rows(const Operand& operand, std::int64_t vector) {
  return vector % operand.modes.front().front().extent.value() == 0;
}

/// The rows of an operand of a flat map of which a vector loads.
std::int64_t rows_loaded(const Operand& operand, std::int64_t vector) {
  return has_whole_rows(operand, vector) ? vector / operand.modes.front().front().extent.value()
                                         : rows_of_vector(operand, vector);
}

/// Requests of a vector for each lane: one for each of its accesses. `place(lane)` says where the
/// lane's vector begins, if it exists, and vectors lie along mode `along`.
template <class Place>
std::int64_t lines_of_vectors(const Operand& operand, std::int64_t vector, std::size_t along,
                              const std::vector<Dim>& extents, Place place) {
  const std::int64_t bytes = size_bytes(operand.dtype);
  const std::int64_t stride = operand.modes[along][0].stride.value();
  const bool whole = operand.modes[along].size() == 1;
  const std::int64_t all = operand.shifted ? vector : operand.access_bytes / bytes;
  // Rows of a flat map's vector have an element each where an input repeats along rows.
  const std::int64_t access = !whole && stride == 0
                                  ? std::max<std::int64_t>(1, vector / rows_loaded(operand, vector))
                              : !whole || stride > 1 ? 1
                              : stride == 0          ? vector
                                                     : std::min(all, vector);
  std::int64_t lines = 0;
  for (std::int64_t i = 0; i < vector; i += access) {
    Request request;
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      std::optional<Coordinates> at = place(lane);
      if (!at) continue;
      (*at)[along] += i;
      if ((*at)[along] < extents[along].value()) {
        request.add(offset_of(operand, *at), stride == 1 ? access * bytes : bytes);
      }
    }
    lines += std::max<std::int64_t>(1, request.cycles(operand.written));
  }
  return lines;
}

double cycles_of(const Plan& plan, const Map&) {
  const std::int64_t vectors = core::ceil_div(plan.extents[0].value(), plan.vector);
  const std::vector<std::size_t> order = order_of_vectors(plan);
  std::int64_t lines = 0;
  for (std::int64_t warp = 0; warp < kWarpsOfMap; ++warp) {
    const auto place = [&](std::int64_t lane) -> std::optional<Coordinates> {
      std::int64_t v = warp * kLanes + lane;
      Coordinates at(plan.extents.size());
      for (const std::size_t m : order) {
        const std::int64_t count = m == 0 ? vectors : plan.extents[m].value();
        at[m] = v % count * (m == 0 ? plan.vector : 1);
        v /= count;
      }
      return at;
    };
    for (const Operand& operand : plan.operands) {
      lines += lines_of_vectors(operand, plan.vector, 0, plan.extents, place);
    }
  }
  const auto elements = static_cast<double>(kLanes * plan.vector);
  return static_cast<double>(lines) / (kWarpsOfMap * elements) +
         (kCyclesOfWarp + kCyclesOfBlock * kLanes / plan.threads) / (elements * plan.unroll);
}

double cycles_of(const Plan& plan, const Tile& tile) {
  const std::int64_t vector = plan.vector;
  const std::int64_t across = tile.columns / vector, down = tile.rows / vector;
  const auto at = [&](std::int64_t column, std::int64_t row) -> std::optional<Coordinates> {
    if (column >= plan.extents[0].value() || row >= plan.extents[tile.mode].value())
      return std::nullopt;
    Coordinates coordinates(plan.extents.size());
    coordinates[0] = column;
    coordinates[tile.mode] = row;
    return coordinates;
  };
  // What a warp touches of `vector` vectors a thread, and cycles of shared memory for these.
  double lines = 0;
  for (const Operand& operand : plan.operands) {
    if (operand.reach != Reach::transposed) {
      lines += static_cast<double>(
          vector * lines_of_vectors(operand, vector, 0, plan.extents, [&](std::int64_t lane) {
            return at(lane % across * vector, lane / across);
          }));
      continue;
    }
    const std::int64_t words = vector * size_bytes(operand.dtype) * kLanes / device::kLineBytes;
    lines += static_cast<double>(2 * vector * std::max<std::int64_t>(1, words));
    for (std::int64_t i = 0; i < vector; ++i) {
      lines += static_cast<double>(lines_of_vectors(
          operand, vector, tile.mode, plan.extents,
          [&](std::int64_t lane) { return at(lane / down * vector + i, lane % down * vector); }));
    }
  }
  // The elements that a tile has of mode m on average: the last one may have few.
  const auto existing = [&](std::size_t m, std::int64_t side) {
    const std::int64_t extent = plan.extents[m].value();
    return static_cast<double>(extent) / static_cast<double>(core::ceil_div(extent, side));
  };
  const double elements = existing(0, tile.columns) * existing(tile.mode, tile.rows);
  const auto slots = static_cast<double>(tile.columns * tile.rows);
  const auto warps = static_cast<double>(plan.threads) / kLanes;
  return (lines * slots / static_cast<double>(kLanes * vector * vector) + warps * kCyclesOfWarp +
          kCyclesOfBlock) /
         elements;
}

double cycles_of(const Plan& plan, const Box& box) {
  double cycles = 0, elements = 1;
  for (const std::int64_t extent : box.extents) elements *= static_cast<double>(extent);
  for (const Operand& operand : plan.operands) {
    const Transposed* const transposed = transposed_of(box, operand);
    cycles += transposed == nullptr ? cycles_of_walk(box, box.direct, operand)
                                    : cycles_of_transposed(box, *transposed, operand);
  }
  const auto warps = static_cast<double>(plan.threads) / kLanes;
  return cycles + (warps * kCyclesOfWarp + kCyclesOfBlock) / elements;
}

template <class Other>
double cycles_of(const Plan&, const Other&) {
  return 0;  // other families have rows, or are given
}

/// The sum over the first warps of a walk of what `count` says of a request, per element.
template <class Offset, class Count>
double cycles_per_lane(const Box& box, const Walk& walk, std::int64_t bytes, Offset offset,
                       Count count) {
  const std::int64_t threads = std::min(threads_of(walk), kWarpsOfWalk * kLanes);
  Coordinates at(box.extents.size());
  std::int64_t cycles = 0;
  for (std::int64_t first = 0; first < threads; first += kLanes) {
    Request request;
    for (std::int64_t t = first; t < std::min(first + kLanes, threads); ++t) {
      begin_of(walk, t, at);
      request.add(offset(at), bytes);
    }
    cycles += count(request);
  }
  return static_cast<double>(cycles) / static_cast<double>(threads);
}

}  // namespace

namespace {

/// The sum of what `count` says of an operand's requests, per element of the box.
template <class Count>
double sum_of_walk(const Box& box, const Walk& walk, const Operand& operand, Count count) {
  const bool single = walk.vector == 1 || walk.modes.empty();
  const Dim stride = single ? Dim(1) : operand.modes[walk.modes.front()][0].stride;
  const std::int64_t pieces = stride.is(0) || stride.is(1) ? 1 : walk.vector;
  return static_cast<double>(pieces) / static_cast<double>(walk.vector) *
         cycles_per_lane(
             box, walk, size_bytes(operand.dtype) * (stride.is(1) ? walk.vector : 1),
             [&](const Coordinates& at) { return offset_of(operand, at); }, count);
}

}  // namespace

double units_of_walk(const Box& box, const Walk& walk, const Operand& operand, std::int64_t unit) {
  return sum_of_walk(box, walk, operand,
                     [&](const Request& request) { return request.units_of(unit); });
}

double cycles_of_walk(const Box& box, const Walk& walk, const Operand& operand) {
  return sum_of_walk(box, walk, operand,
                     [&](const Request& request) { return request.cycles(operand.written); });
}

double bank_cycles(const Box& box, const Walk& walk, const std::vector<std::int64_t>& pitch,
                   int bytes) {
  const auto offset = [&](const Coordinates& at) {
    std::int64_t elements = 0;
    for (std::size_t m = 0; m < at.size(); ++m) elements += at[m] * pitch[m];
    return elements * bytes;
  };
  const bool side_by_side = walk.vector > 1 && pitch[walk.modes.front()] == 1;
  const std::int64_t at_once =
      side_by_side ? std::min<std::int64_t>(walk.vector, device::kWidestAccess / bytes) : 1;
  return cycles_per_lane(box, walk, bytes * at_once, offset,
                         [](const Request& request) { return request.words_of_bank(); }) /
         static_cast<double>(at_once);
}

double cycles_of_transposed(const Box& box, const Transposed& transposed, const Operand& operand) {
  const int bytes = size_bytes(operand.dtype);
  const double direct = bank_cycles(box, box.direct, transposed.pitch, bytes);
  if (transposed.run.empty()) {
    return cycles_of_walk(box, transposed.walk, operand) +
           bank_cycles(box, transposed.walk, transposed.pitch, bytes) + direct;
  }
  const Runs runs = runs_of(box, transposed, bytes);
  return direct + kCyclesOfChunk * static_cast<double>(runs.chunks) /
                      static_cast<double>(kLanes * runs.elements);
}

double cycles_per_element(const Plan& plan) {
  return std::visit([&](const auto& family) { return cycles_of(plan, family); }, plan.family);
}

double cycles_of_numbers(const Plan& plan) {
  if (!std::holds_alternative<Map>(plan.family)) return 0;
  auto of_vector = kCyclesOfMode * static_cast<double>(plan.extents.size() - 1);
  for (const Operand& operand : plan.operands) {
    const OperandMode& leaves = operand.modes.front();
    if (leaves.size() == 1) continue;
    const auto rows = static_cast<double>(rows_loaded(operand, plan.vector));
    of_vector += kCyclesOfMode * rows * static_cast<double>(leaves.size() - 1);
    if (!has_whole_rows(operand, plan.vector)) of_vector += plan.vector * kCyclesOfChoice;
  }
  return of_vector / static_cast<double>(kLanes * plan.vector);
}

}  // namespace tilejit::plan
