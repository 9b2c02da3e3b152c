#include "box/boxing.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "box/extents.hpp"
#include "box/requests.hpp"
#include "box/shared_order.hpp"
#include "box/walks.hpp"
#include "core/integer.hpp"
#include "device/access.hpp"
#include "device/scale.hpp"
#include "map/flat.hpp"
#include "map/strided.hpp"
#include "plan/launch_shape.hpp"

namespace tilejit::plan {
namespace {

constexpr std::int64_t kLeastElements = std::int64_t{1} << 16;  // of a space
// Of a space whose operands have one order: fewer blocks than fill the device start late.
constexpr std::int64_t kLeastInOrder = 4 * device::kThreadsAtOnce;
constexpr double kCyclesOfWeight = 0.01;  // of an element's formula
constexpr double kGain = 1.4;             // of cycles: boxes take vectors of one element
constexpr double kGainOfElements = 1.1;   // over tiles that do so, too
// Cycles to shift an element of one byte in registers. A word takes them, however many elements it
// has; and threads with so many registers are few, which counts where there are few tiles.
constexpr double kCyclesOfShift = 0.06, kOfFewTiles = 3;
constexpr std::int64_t kFewTiles = 4 * device::kManyTiles;
constexpr std::int64_t kBoxBytes = 16384;  // of the narrowest operand that is transposed
constexpr std::int64_t kMostElements = 8192, kFewElements = 1024;  // of a box
constexpr std::int64_t kLeastThreads = 128, kMostThreads = 512, kWarp = 32;
constexpr std::int64_t kMostHeld = 40;  // elements that a thread loads before it waits
constexpr int kNarrowAccess = 8;        // bytes
constexpr double kFullTile = 0.9;       // of its slots
constexpr double kSharedCycles = 2;
constexpr std::int64_t kMostAtOnce = 4;       // elements of a thread in the outputs' order
constexpr std::int64_t kOwnRegisters = 16;    // of a thread, beside what it holds
constexpr std::int64_t kRegistersAtOnce = 8;  // that are allocated together
constexpr double kLessByOrder = 0.5;          // of the cycles, at most, if another order is taken
constexpr double kAlike = 1.01;               // costs
constexpr double kCostOfIdle = 0.6;           // threads, in instructions of those at work
constexpr double kLessByShorter = 0.88;       // of that cost, at most, if boxes are to be shorter
constexpr std::int64_t kLongRun = 512;        // bytes
constexpr std::int64_t kLeastShorter = 2048;  // elements
constexpr double kFewCycles = 0.02;

/// What a block of a map takes of each mode, about.
std::vector<std::int64_t> block_of_map(const Plan& plan) {
  std::vector<std::int64_t> block(plan.extents.size(), 1);
  std::int64_t left = units_per_block(plan);
  for (const std::size_t m : order_of_vectors(plan)) {
    const std::int64_t unit = unit_extent(plan, m), extent = plan.extents[m].value();
    block[m] = std::min(extent, left * unit);
    left = std::max<std::int64_t>(1, left * unit / extent);
  }
  return block;
}

class Boxing {
 public:
  explicit Boxing(const Plan& plan) : plan_(plan), all_(plan.extents.size()) {
    std::iota(all_.begin(), all_.end(), std::size_t{0});
  }

  /// The best plan with boxes of at most `most` elements; nothing if no operand gains by it.
  std::optional<Plan> with_boxes_of(std::int64_t most) {
    order_ = all_;
    box_ = {.extents = choose_extents(plan_, most)};
    const auto side = sheared_side(plan_, box_.extents, kMostElements);
    sheared_ = side.has_value();
    if (side) box_.extents[0] = *side;
    choose_walks(kMostThreads / 2);
    stage(kSharedCycles);
    // Tiles stage what they transpose, too, and elements of a box take no index arithmetic.
    const bool by_elements = plan_.vector == 1 || std::holds_alternative<Tile>(plan_.family);
    if (box_.transposed.empty() && (by_elements || map_cuts_sectors())) stage(0);
    if (box_.transposed.empty()) return std::nullopt;
    lay_out_vectors();
    return finished();
  }

  /// Boxes whose operands are all walked in the outputs' order.
  Plan in_order_of(std::int64_t most) {
    box_ = {.extents = choose_extents(plan_, most)};
    lay_out_vectors();
    return finished();
  }

  /// The same boxes, or shorter ones, with threads of which more are at work.
  Plan with_busy_threads() {
    cost_of_idle_ = kCostOfIdle;
    shorten();
    lay_out_vectors();
    return finished();
  }

 private:
  /// Whether threads of a map would store parts of sectors at different times.
  [[nodiscard]] bool map_cuts_sectors() const {
    return total_units(plan_) > device::kThreadsAtOnce &&
           cycles_of_cuts(plan_, block_of_map(plan_)) > 0;
  }

  /// Lays out, for vectors if as many operands can be copied by runs.
  void lay_out_vectors() {
    vector_ = 1;
    lay_out();
    const auto copied = [&] {
      return std::ranges::count_if(box_.transposed,
                                   [](const Transposed& one) { return !one.run.empty(); });
    };
    if (vector_ = widest_vector(); vector_ > 1) {
      const Box by_elements = box_;
      const auto before = copied();
      lay_out();
      if (copied() < before) box_ = by_elements;
      vector_ = 1;
    }
  }

  /// Chooses the threads of walks, and where transposed operands lie in shared memory.
  void lay_out() {
    order_ = with_repeats_last();
    choose_threads();
    for (auto each = box_.transposed.begin(); each != box_.transposed.end(); ++each) {
      Transposed& transposed = *each;
      const auto alike = std::find_if(box_.transposed.begin(), each, [&](const Transposed& before) {
        return lie_alike(operand_of(plan_, before), operand_of(plan_, transposed));
      });
      if (alike != each) {  // as slices of one tensor do
        const int tensor = transposed.tensor;
        transposed = *alike;
        transposed.tensor = tensor;
        continue;
      }
      transposed.run.clear();
      choose_pitch(plan_, box_, transposed);
      // A sheared box begins outside the space, where there is nothing to copy.
      const auto by_runs = sheared_ ? std::nullopt : copied_by_runs(plan_, box_, transposed);
      if (by_runs && cycles_of_transposed(box_, *by_runs, operand_of(plan_, transposed)) <
                         cycles_of_transposed(box_, transposed, operand_of(plan_, transposed)))
        transposed = *by_runs;
    }
    // Requests count where blocks start together, since all load before the first one stores.
    // Later ones load beside others' stores, and memory may hide what that takes.
    if (blocks() > blocks_at_once() && is_hidden_by_memory()) return;
    for (Transposed& transposed : box_.transposed) {
      if (transposed.run.empty()) take_words(transposed);
    }
  }

  /// Has threads load a word of an input at once.
  void take_words(Transposed& transposed) const {
    const Operand& operand = operand_of(plan_, transposed);
    const std::int64_t vector = device::kBankBytes / size_bytes(operand.dtype);
    if (operand.written || vector < 2 || transposed.walk.modes.empty()) return;
    const std::size_t inner = transposed.walk.modes.front();
    if (stride_of(operand, inner) != 1 || !are_whole(inner, vector) ||
        !is_aligned(operand, inner, vector) || (inner == 0 && sheared_))
      return;
    Transposed words = transposed;
    words.walk = walk_along(box_, order_of(operand), threads_, vector);
    choose_pitch(plan_, box_, words);
    if (cycles_of_transposed(box_, words, operand) <=
        cycles_of_transposed(box_, transposed, operand))
      transposed = words;
  }

  /// Whether memory takes longer than all requests and the formula.
  [[nodiscard]] bool is_hidden_by_memory() const {
    const Plan boxed = finished();
    return cycles_per_element(boxed) + cycles_of_formula(boxed) < cycles_of_memory(boxed);
  }

  [[nodiscard]] static bool lie_alike(const Operand& one, const Operand& other) {
    return one.dtype == other.dtype && one.read == other.read && one.written == other.written &&
           one.modes == other.modes;
  }

  /// The most elements that a thread can take at once of all operands that are not transposed, so
  /// that those in shared memory make a word at most.
  [[nodiscard]] std::int64_t widest_vector() const {
    if (!plan_.places.empty()) return 1;
    const std::int64_t elements = elements_of_box();
    for (std::int64_t vector = kMostAtOnce; vector > 1; vector /= 2) {
      const auto suits = [&](const Operand& operand) {
        if (transposed_of(box_, operand) != nullptr)
          return vector * size_bytes(operand.dtype) <= device::kBankBytes;
        if (stride_of(operand, 0) != 1) return !operand.written;
        return is_aligned(operand, 0, vector);
      };
      if (are_whole(0, vector) && elements >= vector * kLeastThreads &&
          vector <= elements_within_budget(plan_) && std::ranges::all_of(plan_.operands, suits))
        return vector;
    }
    return 1;
  }

  /// Whether vectors along mode m are whole ones.
  [[nodiscard]] bool are_whole(std::size_t m, std::int64_t vector) const {
    return box_.extents[m] % vector == 0 && plan_.extents[m].value() % vector == 0;
  }

  /// Whether an operand's vectors along mode `along` are aligned.
  [[nodiscard]] bool is_aligned(const Operand& operand, std::size_t along,
                                std::int64_t vector) const {
    const std::int64_t bytes = vector * size_bytes(operand.dtype);
    const auto tensor = static_cast<std::size_t>(operand.tensor);
    if (bytes > kChunkBytes || plan_.signature.tensors[tensor].align % bytes != 0) return false;
    for (std::size_t m = 0; m < plan_.extents.size(); ++m) {
      if (m != along && stride_of(operand, m) % vector != 0) return false;
    }
    return true;
  }

  /// The modes of a box, those along which an input with gaps repeats last. A thread then steps
  /// along these, and loads what it has of the input once.
  [[nodiscard]] Modes with_repeats_last() const {
    const auto repeats_along = [&](std::size_t m) {
      return std::ranges::any_of(plan_.operands, [&](const Operand& operand) {
        return !operand.written && transposed_of(box_, operand) == nullptr &&
               stride_of(operand, 0) > 1 && stride_of(operand, m) == 0;
      });
    };
    Modes order = all_;
    std::stable_partition(order.begin() + 1, order.end(), std::not_fn(repeats_along));
    return order;
  }

  /// Cycles per element of what a walk accesses in memory, if steps along modes in which an input
  /// repeats take what an earlier one has loaded.
  [[nodiscard]] double cycles_of_direct(const Walk& walk) const {
    double cycles = 0;
    for (const Operand& operand : plan_.operands) {
      if (transposed_of(box_, operand) != nullptr) continue;
      double part = 1;
      for (std::size_t i = 0; i < walk.modes.size(); ++i) {
        if (!operand.written && stride_of(operand, walk.modes[i]) == 0)
          part /= static_cast<double>(steps_along(box_, walk, i));
      }
      cycles += part * cycles_of_walk(box_, walk, operand);
    }
    return cycles;
  }

  void choose_walks(std::int64_t threads) {
    threads_ = threads;
    box_.direct = walk_along(box_, all_, threads, vector_);
    if (order_ != all_) {
      const Walk other = walk_along(box_, order_, threads, vector_);
      if (cycles_of_direct(other) < kLessByOrder * cycles_of_direct(box_.direct))
        box_.direct = other;
    }
    for (Transposed& transposed : box_.transposed) {
      transposed.walk = walk_along(box_, order_of(operand_of(plan_, transposed)), threads);
    }
  }

  /// Finds the operands that gain by passing through shared memory, which takes a warp
  /// `shared_cycles`.
  void stage(double shared_cycles) {
    for (const Operand& operand : plan_.operands) {
      const Walk own = walk_along(box_, order_of(operand), kMostThreads / 2);
      const double cycles = cycles_of_walk(box_, own, operand) + shared_cycles / kWarp;
      if (cycles < cycles_of_walk(box_, box_.direct, operand)) {
        box_.transposed.push_back({.tensor = operand.tensor, .walk = own});
      }
    }
  }

  /// Elements that a thread holds at once.
  [[nodiscard]] std::int64_t held() const {
    std::int64_t held = 0;
    for (const Operand& operand : plan_.operands) {
      if (!operand.read) continue;
      const Transposed* const transposed = transposed_of(box_, operand);
      held += transposed == nullptr ? steps_of(box_, box_.direct) * vector_
                                    : steps_of(box_, transposed->walk) * transposed->walk.vector;
    }
    return held;
  }

  /// Instructions of warps that access memory.
  [[nodiscard]] std::int64_t issued() const {
    const auto of = [&](const Walk& walk) {
      return core::ceil_div(threads_of(walk), kWarp) * steps_of(box_, walk);
    };
    std::int64_t issued = of(box_.direct) * static_cast<std::int64_t>(plan_.operands.size());
    for (const Transposed& transposed : box_.transposed) issued += 2 * of(transposed.walk);
    return issued;
  }

  /// Blocks that the device has at once.
  [[nodiscard]] std::int64_t blocks_at_once() const {
    std::int64_t threads = threads_of(box_.direct);
    for (const Transposed& one : box_.transposed) threads = std::max(threads, threads_of(one.walk));
    threads = core::ceil_div(threads, kWarp) * kWarp;
    const std::int64_t registers =
        core::ceil_div(kOwnRegisters + held(), kRegistersAtOnce) * kRegistersAtOnce;
    const std::int64_t of_multiprocessor =
        std::min(device::kThreadsOfMultiprocessor / threads,
                 device::kRegistersOfMultiprocessor / (threads * registers));
    return std::max<std::int64_t>(1, of_multiprocessor) * device::kMultiprocessors;
  }

  /// The threads that have elements in the outputs' order, of all that multiprocessors may have in
  /// the rounds that the blocks take. A shorter walk, many registers, few blocks and a last round
  /// of few leave the others idle.
  [[nodiscard]] double busy_part() const {
    const std::int64_t slots = core::ceil_div(blocks(), blocks_at_once()) *
                               device::kMultiprocessors * device::kThreadsOfMultiprocessor;
    return static_cast<double>(blocks() * threads_of(box_.direct)) / static_cast<double>(slots);
  }

  /// Whether the blocks that the device has at once load as much as keeps the memory busy, or all.
  [[nodiscard]] bool keeps_memory_busy() const {
    std::int64_t bytes = 0;  // per element
    for (const Operand& operand : plan_.operands) {
      if (operand.read && !is_small_part(plan_, operand)) bytes += size_bytes(operand.dtype);
    }
    return blocks() <= blocks_at_once() ||
           blocks_at_once() * elements_of_box() * bytes >= device::kBytesUnderWay;
  }

  /// Instructions of warps per element that exists, and more for threads that are idle.
  [[nodiscard]] double cost_of_element() const {
    double elements = 1;
    for (const Dim& extent : plan_.extents) elements *= static_cast<double>(extent.value());
    return static_cast<double>(issued()) * static_cast<double>(blocks()) / elements *
           (1 + cost_of_idle_ * (1 - busy_part()));
  }

  [[nodiscard]] std::int64_t blocks() const {
    std::int64_t blocks = 1;
    for (std::size_t m = 0; m < box_.extents.size(); ++m)
      blocks *= core::ceil_div(plan_.extents[m].value(), box_.extents[m]);
    return blocks;
  }

  [[nodiscard]] std::int64_t elements_of_box() const {
    return std::accumulate(box_.extents.begin(), box_.extents.end(), std::int64_t{1},
                           std::multiplies<>());
  }

  /// Whether runs of `extents` are as long as those of the box, or so long that it is no matter,
  /// and blocks meet in as few sectors.
  [[nodiscard]] bool has_long_runs(const std::vector<std::int64_t>& extents) const {
    const auto is_long = [&](const Operand& operand) {
      const std::int64_t run = run_bytes(plan_, operand, extents);
      return run >= kLongRun || run == run_bytes(plan_, operand, box_.extents) ||
             is_small_part(plan_, operand);
    };
    return std::ranges::all_of(plan_.operands, is_long) &&
           cycles_of_meetings(plan_, extents) <=
               cycles_of_meetings(plan_, box_.extents) + kFewCycles;
  }

  /// Takes fewer elements along a mode if threads then have less to do for each, or more of them
  /// are at work, and runs are long and much is under way all the same.
  void shorten() {
    choose_threads();
    const std::vector<std::int64_t> whole = box_.extents;
    std::vector<std::int64_t> best = whole;
    double least = kLessByShorter * cost_of_element();
    for (std::size_t m = 0; m < whole.size(); ++m) {
      const auto below = static_cast<std::int64_t>(std::bit_floor(std::uint64_t(whole[m] - 1)));
      for (const std::int64_t side : {core::ceil_div(whole[m], 2), below, below / 2}) {
        box_.extents = whole;
        if (side < 1 || side >= whole[m] || (m == 0 && sheared_)) continue;
        std::vector<std::int64_t> shorter = whole;
        shorter[m] = side;
        if (!has_long_runs(shorter)) continue;
        box_.extents = shorter;
        if (elements_of_box() < kLeastShorter) continue;
        choose_threads();
        if (!keeps_memory_busy()) continue;
        if (const double cost = cost_of_element(); cost < least) best = shorter, least = cost;
      }
    }
    box_.extents = best;
  }

  void choose_threads() {
    std::int64_t best = kMostThreads;
    double least = 0;
    const double bound = cost_of_idle_ > 0 ? kAlike : 1;  // more threads take fewer steps each
    for (std::int64_t threads = kLeastThreads; threads <= kMostThreads; threads += kWarp) {
      choose_walks(threads);
      if (held() > kMostHeld) continue;
      const double cost = static_cast<double>(issued()) * (1 + cost_of_idle_ * (1 - busy_part()));
      if (least != 0 && cost >= bound * least) continue;
      best = threads;
      least = least == 0 ? cost : std::min(least, cost);
    }
    choose_walks(best);
  }

  [[nodiscard]] Plan finished() const {
    Plan plan = plan_;
    plan.family = box_;
    plan.vector = static_cast<int>(box_.direct.vector);
    plan.ragged = false;
    plan.peeled = sheared_;
    for (Operand& operand : plan.operands) {
      operand.shifted = false;
      operand.access_bytes = size_bytes(operand.dtype);
      const Dim& stride = operand.modes.front()[0].stride;
      operand.reach = stride.is(1)                       ? Reach::contiguous
                      : stride.is(0) && !operand.written ? Reach::broadcast
                                                         : Reach::strided;
      const Transposed* const transposed = transposed_of(box_, operand);
      if (transposed == nullptr) {
        if (operand.reach == Reach::contiguous) operand.access_bytes *= plan.vector;
        continue;
      }
      operand.reach = Reach::transposed;
      operand.access_bytes *= static_cast<int>(transposed->walk.vector);
      if (!transposed->run.empty()) operand.access_bytes = kChunkBytes;
    }
    std::get<Box>(plan.family).choose_launch(plan, {});
    return plan;
  }

  const Plan& plan_;
  Modes all_, order_;  ///< of the space, and another order in which outputs may be walked
  Box box_;
  double cost_of_idle_ = 0;   ///< threads; 0 where only instructions count
  std::int64_t threads_ = 0;  ///< that walks were chosen for
  bool sheared_ = false;      ///< boxes begin where sectors of the output do
  std::int64_t vector_ = 1;   ///< elements that a thread takes at once in the outputs' order
};

/// What a block takes of each mode; nothing if that is vectors in turn.
std::vector<std::int64_t> block_of(const Plan& plan) {
  std::vector<std::int64_t> block(plan.extents.size(), 1);
  for (std::size_t m = 0; m < block.size(); ++m) {
    block[m] = unit_extent(plan, m);
  }
  return block;
}

/// Whether tiles have as many slots as there are elements, or few more.
bool is_full(const Plan& plan, const Tile& tile) {
  double full = 1;
  for (const std::size_t m : {std::size_t{0}, tile.mode}) {
    const Dim& extent = plan.extents[m];
    if (!extent.is_known()) continue;
    const std::int64_t side = unit_extent(plan, m);
    full *= static_cast<double>(extent.value()) /
            static_cast<double>(core::ceil_div(extent.value(), side) * side);
  }
  return full >= kFullTile;
}

/// Whether all accesses are along long modes: then boxes are not worth a look.
bool is_coalesced(const Plan& plan) {
  const auto is_long = [&](std::size_t m) {
    return !plan.extents[m].is_known() || plan.extents[m].value() >= kWarp;
  };
  const auto* const tile = std::get_if<Tile>(&plan.family);
  const auto is_split = [&](const Operand& operand) {
    return operand.reach == Reach::transposed &&
           operand.access_bytes < std::min(kNarrowAccess, plan.vector * size_bytes(operand.dtype));
  };
  return is_long(0) &&
         (tile == nullptr || (is_long(tile->mode) && plan.vector > 1 && is_full(plan, *tile))) &&
         std::ranges::count(plan.operands, Reach::strided, &Operand::reach) == 0 &&
         std::ranges::none_of(plan.operands, is_split) &&
         std::ranges::count(plan.operands, true, &Operand::shifted) == 0;
}

bool can_have_boxes(const Plan& plan, std::int64_t least) {
  if (!std::holds_alternative<Map>(plan.family) && !std::holds_alternative<Tile>(plan.family))
    return false;
  if (plan.extents.size() < 2 || is_light(plan)) return false;
  const auto is_plain = [](const auto& value) {
    return std::ranges::all_of(value.modes, [](const OperandMode& leaves) {
      return leaves.size() == 1 && leaves[0].stride.is_known();
    });
  };
  if (!std::ranges::all_of(plan.extents, &Dim::is_known) ||
      !std::ranges::all_of(plan.operands, is_plain) || !std::ranges::all_of(plan.places, is_plain))
    return false;
  Dim elements = 1;
  for (const Dim& extent : plan.extents) elements = elements * extent;
  return elements.value() >= least;
}

double cycles_of_shifts(const Plan& plan) {
  double cycles = 0;
  for (const Operand& operand : plan.operands) {
    if (operand.shifted) cycles += kCyclesOfShift / size_bytes(operand.dtype);
  }
  return total_units(plan) < kFewTiles ? kOfFewTiles * cycles : cycles;
}

/// The most elements of a box: as many as make long runs, fewer if there would be few boxes.
std::int64_t most_elements(const Plan& plan) {
  std::int64_t narrowest = 8, inputs = 0, elements = 1;
  for (const Operand& operand : plan.operands) {
    narrowest = std::min<std::int64_t>(narrowest, size_bytes(operand.dtype));
    inputs += operand.read;
  }
  for (const Dim& extent : plan.extents) elements *= extent.value();
  const std::int64_t most =
      std::min({kBoxBytes / narrowest, kMostElements,
                kMostThreads * kMostHeld / std::max<std::int64_t>(1, inputs)});
  return std::clamp(elements / device::kManyTiles, kFewElements, most);
}

/// Whether a map goes by elements that are numbered along several modes.
bool is_numbered_by_elements(const Plan& plan) {
  const auto* const map = std::get_if<Map>(&plan.family);
  return map != nullptr && !map->flat && !plan.peeled && plan.vector == 1 &&
         plan.extents.size() > 2;
}

}  // namespace

std::int64_t shared_bytes(const Plan& plan, const Box& box) {
  std::int64_t bytes = 0;
  for (const Transposed& transposed : box.transposed) {
    bytes += transposed.elements * size_bytes(operand_of(plan, transposed).dtype);
  }
  return bytes;
}

std::optional<Plan> plan_by_boxes(const Plan& plan) {
  if (!can_have_boxes(plan, kLeastElements) || is_coalesced(plan)) return std::nullopt;
  Boxing boxing(plan);
  for (std::int64_t most = most_elements(plan); most >= kFewElements; most /= 2) {
    std::optional<Plan> boxed = boxing.with_boxes_of(most);
    if (!boxed) return std::nullopt;
    if (shared_bytes(*boxed, std::get<Box>(boxed->family)) > device::kStaticSharedBytes) continue;
    const bool tiles = std::holds_alternative<Tile>(plan.family);
    const bool by_elements =
        tiles && std::ranges::any_of(plan.operands, [](const Operand& operand) {
          return operand.reach == Reach::transposed &&
                 operand.access_bytes == size_bytes(operand.dtype);
        });
    const double shifting = cycles_of_shifts(plan);
    const double gain = by_elements ? kGainOfElements : shifting > 0 ? 1 : kGain;
    const double meetings =
        tiles ? cycles_of_meetings(plan, block_of(plan)) : cycles_of_cuts(plan, block_of_map(plan));
    const double of_boxes = cycles_of_meetings(plan, std::get<Box>(boxed->family).extents);
    const double cycles = cycles_per_element(plan) + cycles_of_numbers(plan) + shifting;
    if (gain * cycles_per_element(*boxed) + of_boxes >= cycles + meetings) return std::nullopt;
    Plan busy = boxing.with_busy_threads();
    if (shared_bytes(busy, std::get<Box>(busy.family)) <= device::kStaticSharedBytes) return busy;
    return boxed;
  }
  return std::nullopt;
}

std::optional<Plan> plan_by_boxes_in_order(const Plan& plan) {
  if (!is_numbered_by_elements(plan) || !can_have_boxes(plan, kLeastInOrder)) return std::nullopt;
  Boxing boxing(plan);
  const Plan boxed = boxing.in_order_of(most_elements(plan));
  // Vectors that are as short as this on purpose have many threads.
  if (boxed.vector > plan.vector) return std::nullopt;
  const double cycles = cycles_per_element(plan) + cycles_of_numbers(plan);
  if (kGainOfElements * cycles_per_element(boxed) >= cycles) return std::nullopt;
  const double formula = kCyclesOfWeight * static_cast<double>(expr::weight(plan.program));
  if (cycles + formula < cycles_of_memory(plan)) return std::nullopt;
  return boxing.with_busy_threads();
}

}  // namespace tilejit::plan
