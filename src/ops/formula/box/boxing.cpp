#include "box/boxing.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "box/requests.hpp"
#include "core/integer.hpp"
#include "device/scale.hpp"
#include "plan/sectors.hpp"

namespace tilejit::plan {
namespace {

constexpr std::int64_t kLeastElements = std::int64_t{1} << 16;  // of a space
constexpr double kGain = 1.4;            // of cycles: boxes take vectors of one element
constexpr double kGainOfElements = 1.1;  // over tiles that do so, too
// Cycles to shift an element of one byte in registers. A word takes them, however many elements it
// has; and threads with so many registers are few, which counts where there are few tiles.
constexpr double kCyclesOfShift = 0.06, kOfFewTiles = 3;
constexpr std::int64_t kFewTiles = 4 * device::kManyTiles;
constexpr std::int64_t kRunBytes = 256;    // longer runs gain no more
constexpr std::int64_t kBoxBytes = 16384;  // of the narrowest operand that is transposed
constexpr std::int64_t kMostElements = 8192, kFewElements = 1024;  // of a box
constexpr std::int64_t kLeastThreads = 128, kMostThreads = 512, kWarp = 32;
constexpr std::int64_t kMostHeld = 40;     // elements that a thread loads before it waits
constexpr std::int64_t kMostPadding = 17;  // elements
constexpr std::int64_t kMostRepeats = 4;   // of an operand whose runs count
constexpr std::int64_t kLeastRunBytes = 64;
// Of an input's runs beside an output's; if several inputs lie in other orders.
constexpr std::int64_t kMostWeight = 8, kMostWeightOfSeveral = 2;
constexpr std::int64_t kSectorBytes = 32;
constexpr double kCyclesOfMeeting =
    9;                             // of blocks in a sector of an output: 40 ps of memory's time
constexpr int kNarrowAccess = 8;   // bytes
constexpr double kFullTile = 0.9;  // of its slots
constexpr double kSharedCycles = 2;
constexpr std::int64_t kChunkBytes = 16, kBankBytes = 4;
constexpr std::int64_t kSmallElement = 2, kShortestCopy = 64,
                       kShortestCopyAlone = 256;  // bytes

using Modes = std::vector<std::size_t>;

std::int64_t stride_of(const Operand& operand, std::size_t m) {
  return operand.modes[m][0].stride.value();
}

/// The modes along which the operand varies, by its strides.
Modes order_of(const Operand& operand) {
  Modes order;
  for (std::size_t m = 0; m < operand.modes.size(); ++m) {
    if (stride_of(operand, m) != 0) order.push_back(m);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t m) { return stride_of(operand, m); });
  return order;
}

std::int64_t product_of(const std::vector<std::int64_t>& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

double cycles_of_meetings(const Plan& plan, const std::vector<std::int64_t>& block) {
  double meetings = 0;
  for (const Operand& operand : plan.operands) {
    if (operand.written) meetings += meetings_per_element(operand, plan.extents, block);
  }
  return kCyclesOfMeeting * meetings;
}

class Boxing {
 public:
  explicit Boxing(const Plan& plan) : plan_(plan), all_(plan.extents.size()) {
    std::iota(all_.begin(), all_.end(), std::size_t{0});
    for (const Dim& extent : plan.extents) extents_.push_back(extent.value());
  }

  /// The best plan with boxes of at most `most` elements; nothing if no operand gains by it.
  std::optional<Plan> with_boxes_of(std::int64_t most) {
    choose_extents(most);
    choose_walks(kMostThreads / 2);
    stage(kSharedCycles);
    // Tiles stage what they transpose, too.
    if (box_.transposed.empty() && std::holds_alternative<Tile>(plan_.family)) stage(0);
    if (box_.transposed.empty()) return std::nullopt;
    choose_threads();
    for (Transposed& transposed : box_.transposed) {
      choose_pitch(transposed);
      if (const auto by_runs = copied_by_runs(transposed);
          by_runs && cycles_of_transposed(box_, *by_runs, operand_of(transposed)) <
                         cycles_of_transposed(box_, transposed, operand_of(transposed)))
        transposed = *by_runs;
    }
    return finished();
  }

 private:
  /// How many elements of an operand lie one after another in a box, and the mode along which more
  /// would follow, if there are more.
  struct Run {
    std::int64_t bytes = 0;
    std::optional<std::size_t> next = {};
  };
  [[nodiscard]] Run run_of(const Operand& operand) const {
    const Modes order = order_of(operand);
    Run run{.bytes = size_bytes(operand.dtype)};
    if (order.empty()) return run;
    std::int64_t following = stride_of(operand, order.front());
    for (const std::size_t m : order) {
      if (stride_of(operand, m) != following) break;
      run.bytes *= box_.extents[m];
      if (box_.extents[m] < extents_[m]) {
        run.next = m;
        break;
      }
      following *= extents_[m];
    }
    return run;
  }

  /// Whether all of the operand is a small part of what the space reads or writes.
  [[nodiscard]] bool repeats(const Operand& operand) const {
    std::int64_t times = 1;
    for (std::size_t m = 0; m < extents_.size(); ++m) {
      if (stride_of(operand, m) == 0) times *= extents_[m];
    }
    return times >= kMostRepeats;
  }

  /// The operand's mode that is to be longer: that of the shortest run, if those of outputs count
  /// `weight` times less. If runs are long, the innermost mode that can be longer.
  [[nodiscard]] std::optional<std::size_t> next_mode(std::int64_t weight) const {
    std::optional<std::size_t> next;
    std::int64_t shortest = kRunBytes * kMostWeight;
    for (const Operand& operand : plan_.operands) {
      if (repeats(operand)) continue;  // few bytes, often found in the L1 cache
      const Run run = run_of(operand);
      // Inputs' runs have two sectors first.
      const bool counts_less = operand.written || run.bytes < kLeastRunBytes;
      const std::int64_t bytes = run.bytes * kMostWeight / (counts_less ? weight : 1);
      if (run.next && bytes < shortest) next = run.next, shortest = bytes;
    }
    for (std::size_t m = 0; m < extents_.size() && !next; ++m) {
      if (box_.extents[m] < extents_[m]) next = m;
    }
    return next;
  }

  /// The best of boxes whose outputs have runs as long as those of inputs, and longer ones.
  void choose_extents(std::int64_t most) {
    std::vector<std::int64_t> best;
    double least = 0;
    // Several inputs in other orders have as much to lose by short runs as an output to gain.
    const auto others = std::ranges::count_if(plan_.operands, [&](const Operand& operand) {
      return operand.read && !repeats(operand) && operand.reach != Reach::contiguous;
    });
    const std::int64_t heaviest = others > 1 ? kMostWeightOfSeveral : kMostWeight;
    for (std::int64_t weight = 1; weight <= heaviest; weight *= 2) {
      box_ = {.extents = std::vector<std::int64_t>(extents_.size(), 1)};
      grow(most, weight);
      align(most);
      if (const double cycles = cycles_in_memory(); best.empty() || cycles < least) {
        best = box_.extents;
        least = cycles;
      }
    }
    box_.extents = best;
  }

  /// Cycles per element if each operand is accessed in its own order.
  [[nodiscard]] double cycles_in_memory() const {
    double cycles = cycles_of_meetings(plan_, box_.extents);
    for (const Operand& operand : plan_.operands) {
      cycles += cycles_of_walk(box_, walk_along(order_of(operand), kMostThreads / 2), operand);
    }
    return cycles;
  }

  /// Has boxes begin on sectors of the outputs, where that is a matter of a few elements.
  void align(std::int64_t most) {
    for (std::size_t m = 0; m < extents_.size(); ++m) {
      if (box_.extents[m] == extents_[m]) continue;
      const std::int64_t others = product_of(box_.extents) / box_.extents[m];
      std::int64_t best = box_.extents[m];
      double least = cycles_of_meetings(plan_, box_.extents);
      for (std::int64_t unit = 2; unit <= std::min(kSectorBytes, box_.extents[m]); unit *= 2) {
        const std::int64_t up = core::ceil_div(box_.extents[m], unit) * unit;
        const std::int64_t extent = up * others <= most && up < extents_[m] ? up : up - unit;
        if (extent == 0) continue;
        const std::int64_t before = std::exchange(box_.extents[m], extent);
        if (const double now = cycles_of_meetings(plan_, box_.extents); now < least)
          best = extent, least = now;
        box_.extents[m] = before;
      }
      box_.extents[m] = best;
    }
  }

  /// Doubles one mode after another; what would leave less than one more box becomes whole.
  void grow(std::int64_t most, std::int64_t weight) {
    while (const std::optional<std::size_t> m = next_mode(weight)) {
      std::int64_t& extent = box_.extents[*m];
      const std::int64_t room = most / (product_of(box_.extents) / extent);
      const std::int64_t wanted = 4 * extent > extents_[*m] ? extents_[*m] : 2 * extent;
      const bool last = wanted > room;
      extent = std::min(wanted, room);
      if (last) break;
    }
    for (std::size_t m = 0; m < extents_.size(); ++m) {  // boxes of about the same size
      const std::int64_t boxes = core::ceil_div(extents_[m], box_.extents[m]);
      box_.extents[m] = core::ceil_div(extents_[m], boxes);
    }
  }

  /// A walk along the modes in `order` by at most `threads` threads.
  [[nodiscard]] Walk walk_along(const Modes& order, std::int64_t threads) const {
    Walk walk;
    for (const std::size_t m : order) {
      const std::int64_t extent = box_.extents[m];
      if (extent == 1) continue;
      const std::int64_t steps = core::ceil_div(extent, std::min(extent, threads));
      walk.modes.push_back(m);
      walk.threads.push_back(core::ceil_div(extent, steps));
      threads /= walk.threads.back();
    }
    return walk;
  }

  [[nodiscard]] const Operand& operand_of(const Transposed& transposed) const {
    return plan_.operands[static_cast<std::size_t>(transposed.tensor)];
  }

  void choose_walks(std::int64_t threads) {
    box_.direct = walk_along(all_, threads);
    for (Transposed& transposed : box_.transposed) {
      transposed.walk = walk_along(order_of(operand_of(transposed)), threads);
    }
  }

  /// Finds the operands that gain by passing through shared memory, which takes a warp
  /// `shared_cycles`.
  void stage(double shared_cycles) {
    for (const Operand& operand : plan_.operands) {
      const Walk own = walk_along(order_of(operand), kMostThreads / 2);
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
      const auto transposed =
          std::ranges::find(box_.transposed, operand.tensor, &Transposed::tensor);
      held += steps_of(box_, transposed == box_.transposed.end() ? box_.direct : transposed->walk);
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

  void choose_threads() {
    std::int64_t best = kMostThreads, least = INT64_MAX;
    for (std::int64_t threads = kLeastThreads; threads <= kMostThreads; threads += kWarp) {
      choose_walks(threads);
      if (held() <= kMostHeld && issued() < least) best = threads, least = issued();
    }
    choose_walks(best);
  }

  /// Elements of shared memory lie in the order of the direct walk, with as much padding behind
  /// each mode as bank conflicts ask for.
  void choose_pitch(Transposed& transposed) const {
    const Operand& operand = operand_of(transposed);
    std::vector<std::int64_t> padding(extents_.size(), 0);
    const auto lay_out = [&] {
      transposed.pitch.assign(extents_.size(), 0);
      std::int64_t pitch = 1;
      transposed.elements = 1;
      for (std::size_t m = 0; m < extents_.size(); ++m) {
        if (box_.extents[m] == 1 || stride_of(operand, m) == 0) continue;
        transposed.pitch[m] = pitch;
        transposed.elements += (box_.extents[m] - 1) * pitch;
        pitch = pitch * box_.extents[m] + padding[m];
      }
    };
    const auto cycles = [&] {
      lay_out();
      const int bytes = size_bytes(operand.dtype);
      return bank_cycles(box_, transposed.walk, transposed.pitch, bytes) +
             bank_cycles(box_, box_.direct, transposed.pitch, bytes);
    };
    double least = cycles();
    for (std::size_t m = extents_.size(); m-- > 0;) {
      if (box_.extents[m] == 1 || stride_of(operand, m) == 0) continue;
      std::int64_t best = 0;
      for (padding[m] = 1; padding[m] <= kMostPadding; ++padding[m]) {
        if (const double now = cycles(); now < least) best = padding[m], least = now;
      }
      padding[m] = best;
    }
    lay_out();
  }

  /// Whether inputs as large as the space are loaded element by element, which keeps enough under
  /// way while runs are copied.
  [[nodiscard]] bool has_direct_input() const {
    return std::ranges::any_of(plan_.operands, [&](const Operand& operand) {
      return operand.read && !repeats(operand) &&
             std::ranges::count(box_.transposed, operand.tensor, &Transposed::tensor) == 0;
    });
  }

  /// The modes of the operand's run.
  [[nodiscard]] Modes modes_of_run(const Operand& operand) const {
    Modes modes;
    std::int64_t following = 1, elements = 1;
    for (const std::size_t m : order_of(operand)) {
      if (stride_of(operand, m) != following) break;
      if (box_.extents[m] > 1) modes.push_back(m);
      elements *= box_.extents[m];
      if (box_.extents[m] < extents_[m]) break;
      following *= extents_[m];
    }
    return modes;
  }

  /// The same operand by aligned chunks of its runs, as they lie in memory: inputs of small
  /// elements, which take fewer instructions so. A thread's elements must lie equally far behind
  /// the starts of their runs' chunks.
  [[nodiscard]] std::optional<Transposed> copied_by_runs(const Transposed& transposed) const {
    const Operand& operand = operand_of(transposed);
    const std::int64_t bytes = size_bytes(operand.dtype);
    if (operand.written || bytes > kSmallElement) return std::nullopt;
    Transposed copied = transposed;
    copied.run = modes_of_run(operand);
    if (copied.run.empty()) return std::nullopt;
    const Runs runs = runs_of(box_, copied, static_cast<int>(bytes));
    const std::int64_t least = has_direct_input() ? kShortestCopy : kShortestCopyAlone;
    if (runs.elements * bytes < least) return std::nullopt;
    std::int64_t pitch = (runs.chunks * kChunkBytes + kBankBytes) / bytes;
    for (const std::size_t m : transposed.walk.modes) {
      if (std::ranges::count(copied.run, m) != 0) {
        copied.pitch[m] = stride_of(operand, m);
        continue;
      }
      const auto at = std::ranges::find(box_.direct.modes, m) - box_.direct.modes.begin();
      const std::int64_t step = box_.direct.threads[static_cast<std::size_t>(at)];
      if (step < box_.extents[m] && step * stride_of(operand, m) * bytes % kChunkBytes != 0)
        return std::nullopt;
      copied.pitch[m] = pitch;
      pitch *= box_.extents[m];
    }
    copied.elements = pitch;
    return copied;
  }

  [[nodiscard]] Plan finished() const {
    Plan plan = plan_;
    plan.family = box_;
    plan.vector = 1;
    plan.ragged = plan.peeled = false;
    for (Operand& operand : plan.operands) {
      operand.shifted = false;
      operand.access_bytes = size_bytes(operand.dtype);
      const Dim& stride = operand.modes.front()[0].stride;
      operand.reach = stride.is(1)                       ? Reach::contiguous
                      : stride.is(0) && !operand.written ? Reach::broadcast
                                                         : Reach::strided;
      const auto transposed =
          std::ranges::find(box_.transposed, operand.tensor, &Transposed::tensor);
      if (transposed == box_.transposed.end()) continue;
      operand.reach = Reach::transposed;
      if (!transposed->run.empty()) operand.access_bytes = kChunkBytes;
    }
    std::get<Box>(plan.family).choose_launch(plan, {});
    return plan;
  }

  const Plan& plan_;
  Modes all_;
  std::vector<std::int64_t> extents_;
  Box box_;
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

bool can_have_boxes(const Plan& plan) {
  if (!std::holds_alternative<Map>(plan.family) && !std::holds_alternative<Tile>(plan.family))
    return false;
  if (plan.extents.size() < 2 || is_light(plan) || is_coalesced(plan)) return false;
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
  return elements.value() >= kLeastElements;
}

double cycles_of_shifts(const Plan& plan) {
  double cycles = 0;
  for (const Operand& operand : plan.operands) {
    if (operand.shifted) cycles += kCyclesOfShift / size_bytes(operand.dtype);
  }
  return total_units(plan, {}) < kFewTiles ? kOfFewTiles * cycles : cycles;
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

}  // namespace

std::int64_t shared_bytes(const Plan& plan, const Box& box) {
  std::int64_t bytes = 0;
  for (const Transposed& transposed : box.transposed) {
    const auto tensor = static_cast<std::size_t>(transposed.tensor);
    bytes += transposed.elements * size_bytes(plan.operands[tensor].dtype);
  }
  return bytes;
}

std::optional<Plan> plan_by_boxes(const Plan& plan) {
  if (!can_have_boxes(plan)) return std::nullopt;
  Boxing boxing(plan);
  for (std::int64_t most = most_elements(plan); most >= kFewElements; most /= 2) {
    std::optional<Plan> boxed = boxing.with_boxes_of(most);
    if (!boxed) return std::nullopt;
    if (shared_bytes(*boxed, std::get<Box>(boxed->family)) > device::kStaticSharedBytes) continue;
    const bool by_elements = std::holds_alternative<Tile>(plan.family) &&
                             std::ranges::any_of(plan.operands, [](const Operand& operand) {
                               return operand.reach == Reach::transposed &&
                                      operand.access_bytes == size_bytes(operand.dtype);
                             });
    const double shifting = cycles_of_shifts(plan);
    const double gain = by_elements ? kGainOfElements : shifting > 0 ? 1 : kGain;
    const bool tiles = std::holds_alternative<Tile>(plan.family);
    const double meetings = tiles ? cycles_of_meetings(plan, block_of(plan)) : 0;
    const double of_boxes = cycles_of_meetings(plan, std::get<Box>(boxed->family).extents);
    const double cycles = cycles_per_element(plan) + shifting;
    if (gain * cycles_per_element(*boxed) + of_boxes < cycles + meetings) return boxed;
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace tilejit::plan
