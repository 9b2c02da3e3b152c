#include "box/extents.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "box/requests.hpp"
#include "box/walks.hpp"
#include "core/integer.hpp"
#include "device/access.hpp"
#include "plan/sectors.hpp"

namespace tilejit::plan {
namespace {

constexpr std::int64_t kRunBytes = 256;  // longer runs gain no more
constexpr std::int64_t kLeastRunBytes = 64;
// Of an input's runs beside an output's; if several inputs lie in other orders.
constexpr std::int64_t kMostWeight = 8, kMostWeightOfSeveral = 2;
// Of blocks in a sector of an output: 40 ps of the memory's time.
constexpr double kCyclesOfMeeting = 9;
constexpr std::int64_t kThreads = 256;  // of a walk that is looked at
// To issue an element's instructions, of which there are a dozen beside the formula's: a
// multiprocessor issues four for a warp's elements at once.
constexpr double kCyclesOfElement = 12.0 / (4 * 32);
constexpr double kFull = 0.85;            // of a box
constexpr double kManyMeetings = 0.5;     // cycles per element, about as many as all else takes
constexpr double kLessByExchange = 0.88;  // of the cycles, at most, if other sides are worth it
constexpr int kMostExchanges = 4;

std::int64_t product_of(const std::vector<std::int64_t>& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

class Extents {
 public:
  explicit Extents(const Plan& plan, std::vector<std::int64_t> box = {})
      : plan_(plan), box_{.extents = std::move(box)} {
    for (const Dim& extent : plan.extents) extents_.push_back(extent.value());
  }

  /// The best of boxes whose outputs have runs as long as those of inputs, and longer ones.
  [[nodiscard]] std::vector<std::int64_t> best_of(std::int64_t most) {
    std::vector<std::int64_t> best;
    double least = 0;
    // Several inputs in other orders have as much to lose by short runs as an output to gain.
    const auto others = std::ranges::count_if(plan_.operands, [&](const Operand& operand) {
      return operand.read && !is_small_part(plan_, operand) && operand.reach != Reach::contiguous;
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
    if (wastes()) exchange(most + most / 2);
    return box_.extents;
  }

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
      const std::int64_t stride = stride_of(operand, m), gap = stride - following;
      // What lies behind a short gap is of the run, too: of the same sectors, or of the next line.
      if (gap < 0 || gap * size_bytes(operand.dtype) > device::kLineBytes) break;
      run.bytes *= box_.extents[m];
      if (box_.extents[m] < extents_[m]) {
        run.next = m;
        break;
      }
      following = stride * extents_[m];
    }
    return run;
  }

 private:
  /// The operand's mode that is to be longer: that of the shortest run, if those of outputs count
  /// `weight` times less. If runs are long, the innermost mode that can be longer.
  [[nodiscard]] std::optional<std::size_t> next_mode(std::int64_t weight) const {
    std::optional<std::size_t> next;
    std::int64_t shortest = kRunBytes * kMostWeight;
    for (const Operand& operand : plan_.operands) {
      if (is_small_part(plan_, operand)) continue;
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

  /// Cycles per element if each operand is accessed in its own order. Small ones cost none.
  [[nodiscard]] double cycles_in_memory() const {
    double cycles = cycles_of_meetings(plan_, box_.extents);
    for (const Operand& operand : plan_.operands) {
      if (is_small_part(plan_, operand)) continue;  // often found in the L1 cache
      cycles += cycles_of_walk(box_, walk_along(box_, order_of(operand), kThreads), operand);
    }
    return cycles;
  }

  /// The part of the boxes' elements that the space has: the last ones along a mode may have few.
  [[nodiscard]] double fullness() const {
    double part = 1;
    for (std::size_t m = 0; m < extents_.size(); ++m) {
      const std::int64_t boxes = core::ceil_div(extents_[m], box_.extents[m]);
      part *= static_cast<double>(extents_[m]) / static_cast<double>(boxes * box_.extents[m]);
    }
    return part;
  }

  /// Cycles per element that exists. Where a request takes parts of sectors, the cache below
  /// counts: it sends two sectors in a cycle.
  [[nodiscard]] double cycles_of_box() const {
    double cycles = kCyclesOfElement;
    for (const Operand& operand : plan_.operands) {
      if (is_small_part(plan_, operand)) continue;
      const Walk walk = walk_along(box_, order_of(operand), kThreads);
      cycles += std::max(cycles_of_walk(box_, walk, operand),
                         units_of_walk(box_, walk, operand, device::kSectorBytes) / 2);
    }
    return cycles / fullness() + cycles_of_meetings(plan_, box_.extents);
  }

  /// Sides that a mode may have instead: twice as long or half, what fills boxes evenly, and what
  /// has runs begin on sectors.
  [[nodiscard]] std::vector<std::int64_t> other_sides(std::size_t m) const {
    const std::int64_t now = box_.extents[m], all = extents_[m];
    std::vector<std::int64_t> sides;
    const auto add = [&](std::int64_t side) {
      side = std::clamp<std::int64_t>(side, 1, all);
      if (side != now && std::ranges::count(sides, side) == 0) sides.push_back(side);
    };
    add(core::ceil_div(all, core::ceil_div(all, now)));
    add(4 * now > all ? all : 2 * now);
    add(std::int64_t(std::bit_ceil(std::uint64_t(now))));
    add(core::ceil_div(now, 2));
    add(std::int64_t(std::bit_floor(std::uint64_t(now))));
    add(core::ceil_div(now, 4));
    return sides;
  }

  /// Whether other sides are worth a look: much is empty, or blocks meet in many sectors.
  [[nodiscard]] bool wastes() const {
    return fullness() < kFull || cycles_of_meetings(plan_, box_.extents) > kManyMeetings;
  }

  /// Gives one mode another side, or two modes, as long as that saves enough cycles.
  void exchange(std::int64_t most) {
    for (int i = 0; i < kMostExchanges; ++i) {
      const std::vector<std::int64_t> before = box_.extents;
      std::vector<std::int64_t> best = before;
      double least = kLessByExchange * cycles_of_box();
      const auto consider = [&] {
        if (product_of(box_.extents) > most || 2 * product_of(box_.extents) < product_of(before))
          return;
        if (const double now = cycles_of_box(); now < least) best = box_.extents, least = now;
      };
      for (std::size_t m = 0; m < before.size(); ++m) {
        for (const std::int64_t side : other_sides(m)) {
          box_.extents[m] = side;
          consider();
          for (std::size_t n = m + 1; n < before.size(); ++n) {
            for (const std::int64_t other : other_sides(n)) {
              box_.extents[n] = other;
              consider();
            }
            box_.extents[n] = before[n];
          }
          box_.extents[m] = before[m];
        }
      }
      box_.extents = best;
      if (best == before) return;
    }
  }

  /// Has boxes begin on sectors of the outputs, where that is a matter of a few elements.
  void align(std::int64_t most) {
    for (std::size_t m = 0; m < extents_.size(); ++m) {
      if (box_.extents[m] == extents_[m]) continue;
      const std::int64_t others = product_of(box_.extents) / box_.extents[m];
      std::int64_t best = box_.extents[m];
      double least = cycles_of_meetings(plan_, box_.extents);
      for (std::int64_t unit = 2;
           unit <= std::min<std::int64_t>(device::kSectorBytes, box_.extents[m]); unit *= 2) {
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

  const Plan& plan_;
  std::vector<std::int64_t> extents_;
  Box box_;
};

}  // namespace

std::vector<std::int64_t> choose_extents(const Plan& plan, std::int64_t most) {
  return Extents(plan).best_of(most);
}

std::optional<std::int64_t> sheared_side(const Plan& plan, const std::vector<std::int64_t>& extents,
                                         std::int64_t most) {
  const auto output = std::ranges::find_if(plan.operands, &Operand::written);
  if (std::ranges::count(plan.operands, true, &Operand::written) != 1 || stride_of(*output, 0) != 1)
    return std::nullopt;
  const std::int64_t sector = device::kSectorBytes / size_bytes(output->dtype);
  bool begin_apart = false;
  for (std::size_t m = 1; m < extents.size(); ++m) {
    if (plan.extents[m].is(1) || stride_of(*output, m) % sector == 0) continue;
    if (extents[m] > 1) return std::nullopt;
    begin_apart = true;
  }
  const std::int64_t all = plan.extents[0].value(), now = extents[0];
  const std::int64_t side = core::ceil_div(now, sector) * sector;
  if (!begin_apart || now == all || product_of(extents) / now * side > most ||
      core::ceil_div(all + sector - 1, side) > core::ceil_div(all, now))
    return std::nullopt;
  return side;
}

std::int64_t run_bytes(const Plan& plan, const Operand& operand,
                       const std::vector<std::int64_t>& extents) {
  return Extents(plan, extents).run_of(operand).bytes;
}

double cycles_of_meetings(const Plan& plan, const std::vector<std::int64_t>& block) {
  double meetings = 0;
  for (const Operand& operand : plan.operands) {
    if (operand.written) meetings += meetings_per_element(operand, plan.extents, block);
  }
  return kCyclesOfMeeting * meetings;
}

double cycles_of_cuts(const Plan& plan, const std::vector<std::int64_t>& block) {
  double cuts = 0;
  for (const Operand& operand : plan.operands) {
    if (operand.written) cuts += cuts_per_element(operand, plan.extents, block);
  }
  return kCyclesOfMeeting * cuts;
}

}  // namespace tilejit::plan
