#include "box/extents.hpp"

#include <algorithm>
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

std::int64_t product_of(const std::vector<std::int64_t>& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

class Extents {
 public:
  explicit Extents(const Plan& plan) : plan_(plan) {
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
    return best;
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

double cycles_of_meetings(const Plan& plan, const std::vector<std::int64_t>& block) {
  double meetings = 0;
  for (const Operand& operand : plan.operands) {
    if (operand.written) meetings += meetings_per_element(operand, plan.extents, block);
  }
  return kCyclesOfMeeting * meetings;
}

}  // namespace tilejit::plan
