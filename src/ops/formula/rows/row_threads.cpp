#include "rows/row_threads.hpp"

#include <algorithm>
#include <vector>

#include "core/integer.hpp"
#include "device/access.hpp"
#include "device/device.hpp"
#include "device/occupancy.hpp"
#include "device/scale.hpp"
#include "expr/traits.hpp"
#include "rows/row_shape.hpp"
#include "rows/rows.hpp"

namespace tilejit::plan {
namespace {

using core::ceil_div;

// Instructions of a thread beside those for elements, and of an access to an element, about.
constexpr double kOfThread = 60, kOfReduction = 40, kOfExchange = 30, kOfPeeled = 40, kOfAccess = 2;
constexpr double kLessByApproximation = 5;  // instructions of a function for 16-bit results
constexpr double kInstructionsOfByte = 10;  // of all lanes, 1.05 times as long as a byte takes
constexpr double kManyOfByte = 12;          // from which parts of lines are no slower
constexpr double kGainOfFewer = 0.95;
constexpr std::int64_t kThreadsOfBusy = device::kThreadsAtOnce * 3 / 2;
constexpr std::int64_t kMostOfPass = 16, kMostOfPasses = 8;  // vectors of a thread
constexpr int kRegistersBesideCentres = 24;                  // that hold vectors
constexpr int kLeastVectorsOfStep = 4;
constexpr int kManyAccesses = 4;       // to operands, for each vector of a row
constexpr int kLeastOfParts = 8;       // bytes of an access
constexpr int kMostComingAgain = 64;   // bytes of a thread, 128 KB of a multiprocessor
constexpr double kMostByParts = 0.75;  // of the time of all bytes, in which parts are stored
constexpr int kMostOfNarrow = 2;  // vectors of a thread, while a step of its row is below a sector
constexpr int kWord = 4, kMostOfWords = 4;  // bytes of an access, and accesses of a thread
constexpr int kMostThreadsOfWords = 64, kMostThreadsOfFew = 128;
// Clocks of a thread that hardly any others hide: of an instruction for an element, and for each
// reduction of threads of a warp that combine once more, or of a block's that meet.
constexpr double kClocksOfInstruction = 1.5, kClocksOfTurn = 45, kClocksOfMeeting = 60;
constexpr std::int64_t kMostAlone = 8;         // elements of a column
constexpr std::int64_t kThreadsOfLarge = 512;  // of a block
constexpr double kOfPlaces = 8;                // to find a vector in a row of several modes
constexpr double kOfPlace = 4;  // instructions of an element, of a reduction that finds a place
// Registers of a thread beside the values that it holds of a row, about; how many values leave room
// for one turn of all threads; and the steps and elements of a vector of which more threads have a
// part.
constexpr int kRegistersBesideValues = 20, kMostValuesOfTurn = 24;
constexpr int kLeastStepsOfTurn = 4, kFewElements = 4;
constexpr int kThreadsOfBlock = 128;  // by which registers are given
constexpr double kBytesOfBriefStores = 32.0 * device::kBytesUnderWay;

/// Whether the operand's elements come from memory once for each row, not from caches.
bool streams(const Plan& plan, const Rows& rows, const Operand& operand) {
  if (operand.per_row || operand.every_row || !varies_in_row(operand, rows)) return false;
  for (std::size_t m = 0; m < operand.modes.size(); ++m) {
    if (rows.reduces(m) || plan.extents[m].is(1)) continue;
    for (const Mode& leaf : operand.modes[m]) {
      if (leaf.stride.is(0)) return false;
    }
  }
  return true;
}

/// Bytes of a row that come from memory or go there.
double streamed_bytes(const Plan& plan, const Rows& rows, std::int64_t vectors) {
  double bytes = 0;
  for (const Operand& operand : plan.operands) {
    const int times = (operand.read ? 1 : 0) + (operand.written ? 1 : 0);
    if (streams(plan, rows, operand))
      bytes += static_cast<double>(times * vectors * plan.vector * size_bytes(operand.dtype));
  }
  return bytes;
}

/// Instructions of a thread for each element of a row, about.
double instructions_of_element(const Plan& plan, const Rows& rows) {
  const std::vector<expr::Node>& nodes = plan.program.nodes;
  std::vector<bool> varies(nodes.size());
  double instructions = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const expr::Node& node = nodes[i];
    const bool of_element = std::ranges::any_of(node.args, [&](expr::NodeId arg) {
      return arg != expr::kNoNode && varies[static_cast<std::size_t>(arg)];
    });
    const bool combines = expr::is_reduction(node.op);
    varies[i] = node.op == expr::Op::index ||
                (node.op == expr::Op::load &&
                 varies_in_row(plan.operands[static_cast<std::size_t>(node.source)], rows)) ||
                (of_element && !combines);
    if (!of_element) continue;
    const expr::Traits& traits = expr::traits(node.op);
    const double own = traits.cost.plain + kPlainOfSpecial * traits.cost.special;
    const bool approximate = !expr::approximation(node).empty();
    instructions += expr::finds_place(node.op) ? kOfPlace
                    : combines                 ? 1
                    : !approximate             ? own
                    : traits.cost.narrow > 0   ? traits.cost.narrow + kPlainOfSpecial
                                               : std::max(2.0, own / kLessByApproximation);
  }
  for (const Operand& operand : plan.operands) {
    const int times = (operand.read ? 1 : 0) + (operand.written ? 1 : 0);
    if (!operand.per_row && varies_in_row(operand, rows)) instructions += kOfAccess * times;
  }
  return instructions;
}

/// Instructions of all threads that share a row of `vectors`, about.
double instructions_of_row(const Plan& plan, const Rows& rows, std::int64_t vectors) {
  const auto reductions = static_cast<double>(count_reductions(plan));
  const double exchange = rows.row_threads > kWarp ? kOfExchange : 0;
  double of_vector = plan.vector * instructions_of_element(plan, rows);
  if (rows.count > 1) of_vector += kOfPlaces;
  if (plan.peeled) of_vector += kOfPeeled * static_cast<double>(plan.operands.size());
  const auto steps = static_cast<double>(ceil_div(vectors, rows.row_threads));
  return rows.row_threads *
         (kOfThread + reductions * (kOfReduction + exchange) + steps * of_vector);
}

/// Values of a row that each of its threads holds.
std::int64_t values_of_thread(const Plan& plan, const Rows& rows, std::int64_t vectors) {
  return ceil_div(vectors, rows.row_threads) *
         std::max(plan.vector, registers_of_vector(plan, rows));
}

/// How often as many threads that hold rows follow each other as registers leave room for at once.
double turns_of_held(const Plan& plan, const Rows& rows, std::int64_t vectors) {
  const auto count = static_cast<double>(vectors_across_rows(plan, rows).value_or(0));
  const std::int64_t values = values_of_thread(plan, rows, vectors);
  const device::Occupancy occupancy = device::occupancy_of(
      device::device_of(plan.target),
      {.threads = kThreadsOfBlock, .registers = static_cast<int>(kRegistersBesideValues + values)});
  return count * rows.row_threads / (device::kMultiprocessors * std::max(1, occupancy.threads));
}

/// Whether the next row begins where a row of one mode ends, in all operands of the full space.
bool follow_each_other(const Plan& plan, const Rows& rows) {
  if (rows.count != 1 || plan.extents.size() < 2) return false;
  return std::ranges::all_of(plan.operands, [&](const Operand& operand) {
    return !streams(plan, rows, operand) || next_run_follows(plan, rows, operand);
  });
}

}  // namespace

bool calls_sines(const Plan& plan) {
  return std::ranges::any_of(plan.program.nodes, expr::is_trigonometric, &expr::Node::op);
}

bool writes_elements(const Plan& plan) {
  return std::ranges::any_of(
      plan.operands, [](const Operand& operand) { return operand.written && !operand.per_row; });
}

int least_access(const Plan& plan, const Rows& rows) {
  int bytes = device::kWidestAccess;
  for (const Operand& operand : plan.operands) {
    if (operand.read && !operand.every_row && varies_in_row(operand, rows))
      bytes = std::min(bytes, operand.access_bytes);
  }
  return bytes;
}

int threads_of_turns(const Plan& plan, const Rows& rows, std::int64_t vectors) {
  const int threads = rows.row_threads;
  if (plan.peeled || is_one_pass_if_held(plan) || has_heavy_values(plan) ||
      has_alike_rows(plan, rows))
    return threads;
  const double turns = turns_of_held(plan, rows, vectors);
  if (turns <= 1 || turns >= 2) return threads;
  Rows fewer = rows;
  fewer.row_threads = std::max(1, threads / 2);
  // Narrower accesses may begin within sectors, of which short steps have parts.
  const int access = least_access(plan, rows);
  const int least = access == device::kWidestAccess ? 2 * device::kSectorBytes : device::kLineBytes;
  if (fewer.row_threads * access >= least &&
      values_of_thread(plan, fewer, vectors) <= kMostValuesOfTurn &&
      turns_of_held(plan, fewer, vectors) <= 1)
    return fewer.row_threads;
  const std::int64_t steps = ceil_div(vectors, threads);
  const bool evenly = steps >= kLeastStepsOfTurn && steps % 2 == 0;
  return evenly && 2 * threads <= kWarp && plan.vector >= kFewElements ? 2 * threads : threads;
}

bool stores_briefly(const Plan& plan, const Rows& rows) {
  const auto count = vectors_across_rows(plan, rows), vectors = vectors_in_row(plan, rows);
  if (!rows.along() || !count || !vectors) return false;
  const double bytes = static_cast<double>(*count) * streamed_bytes(plan, rows, *vectors);
  const double computed = 2.0 * device::kMostThreadsAtOnce / rows.row_threads;
  return bytes <= kBytesOfBriefStores &&
         2 * computed * instructions_us(plan, rows, *vectors) <= bytes / device::kBytesOfUs;
}

double instructions_us(const Plan& plan, const Rows& rows, std::int64_t vectors) {
  return instructions_of_row(plan, rows, vectors) / (kInstructionsOfByte * device::kBytesOfUs);
}

bool computes_longer(const Plan& plan, const Rows& rows, std::int64_t vectors) {
  const double bytes = streamed_bytes(plan, rows, vectors);
  return bytes > 0 && instructions_of_row(plan, rows, vectors) >= kInstructionsOfByte * bytes;
}

int threads_of_busy_device(const Plan& plan, Rows rows, std::int64_t vectors,
                           std::int64_t most_held) {
  const auto count = vectors_across_rows(plan, rows);
  const int registers = registers_of_vector(plan, rows);
  const double bytes = streamed_bytes(plan, rows, vectors);
  // Heavy values that a thread does not hold are computed again by each pass.
  const std::int64_t most_values = !is_one_pass_if_held(plan) && has_heavy_values(plan)
                                       ? kMostHeldValues / plan.vector
                                       : most_held;
  const std::int64_t most =
      std::min({most_held, most_values, is_one_pass(plan) ? kMostOfPass : kMostOfPasses});
  const int most_registers = has_centres(plan) ? kRegistersBesideCentres : kFewRegisters;
  // Rows that are stored several times are computed once.
  if (has_alike_rows(plan, rows)) return rows.row_threads;
  while (count && bytes > 0 && rows.row_threads > 1) {
    const double now = instructions_of_row(plan, rows, vectors);
    Rows fewer = rows;
    fewer.row_threads /= 2;
    const std::int64_t steps = ceil_div(vectors, fewer.row_threads);
    // Parts of lines take longer than whole ones, which counts if the formula hardly takes longer.
    const int least = now < kManyOfByte * bytes ? device::kLineBytes : device::kSectorBytes;
    // Of rows that are read once, the last step may leave fewer threads idle.
    const std::int64_t slots = steps * fewer.row_threads;
    const std::int64_t slots_now = ceil_div(vectors, rows.row_threads) * rows.row_threads;
    const bool fuller = is_one_pass_if_held(plan) && 6 * slots <= 5 * slots_now;
    const std::int64_t busy = fuller ? device::kThreadsAtOnce : kThreadsOfBusy;
    if (now < kInstructionsOfByte * bytes || *count * fewer.row_threads < busy || steps > most ||
        steps * registers > most_registers ||
        fewer.row_threads * least_access(plan, rows) < least ||
        instructions_of_row(plan, fewer, vectors) > kGainOfFewer * now)
      break;
    rows = fewer;
  }
  return rows.row_threads;
}

int threads_of_odd_rows(const Plan& plan, const Rows& rows, std::int64_t vectors) {
  if (vectors % 2 == 0 || !writes_elements(plan) ||
      least_access(plan, rows) != device::kWidestAccess || plan.peeled)
    return rows.row_threads;
  Rows more = rows;
  const auto steps = [&] { return ceil_div(vectors, more.row_threads); };
  while (more.row_threads < kWarp && steps() > 1 && kLeastVectorsOfStep * steps() > vectors)
    more.row_threads *= 2;
  const auto count = vectors_across_rows(plan, rows);
  if (!count || *count * rows.row_threads < kThreadsOfBusy || !follow_each_other(plan, rows) ||
      has_alike_rows(plan, rows))
    return more.row_threads;
  const bool idle = 3 * vectors <= 2 * more.row_threads;  // a third of the threads
  const double most = idle ? kInstructionsOfByte : kManyOfByte;
  const bool longer =
      instructions_of_row(plan, more, vectors) >= most * streamed_bytes(plan, rows, vectors);
  return longer ? rows.row_threads : more.row_threads;
}

int threads_of_words(const Plan& plan, const Rows& rows, std::int64_t vectors) {
  const auto count = vectors_across_rows(plan, rows);
  if (is_one_pass(plan) || plan.vector > 1 || least_access(plan, rows) != kWord || !count ||
      vectors <= kMostOfWords * rows.row_threads)
    return rows.row_threads;
  const int threads = 2 * rows.row_threads;
  const std::int64_t steps = ceil_div(vectors, threads);
  const bool busy = 4 * vectors >= 3 * steps * threads && steps <= kMostOfWords;
  const bool several = registers_of_vector(plan, rows) > 1 && threads <= kMostThreadsOfWords;
  const bool few = *count * threads <= 2 * device::kThreadsAtOnce && threads <= kMostThreadsOfFew;
  return busy && (several || few) ? threads : rows.row_threads;
}

int threads_of_narrow_stores(const Plan& plan, const Rows& rows, std::int64_t vectors) {
  int threads = rows.row_threads;
  const int access = least_access(plan, rows);
  const auto accesses = std::ranges::count_if(
      plan.operands, [&](const Operand& operand) { return spans_rows(operand, rows); });
  const auto count = vectors_across_rows(plan, rows);
  const bool few = count && 2 * *count * threads <= device::kThreadsAtOnce / 4;  // all in caches
  if (few || !writes_elements(plan) || (accesses < kManyAccesses && plan.vector > 1))
    return threads;
  while (threads * access < device::kSectorBytes && vectors > kMostOfNarrow * threads) threads *= 2;
  return threads;
}

int threads_of_stored_parts(const Plan& plan, const Rows& rows, std::int64_t vectors) {
  const auto is_stored = [&](const Operand& operand) {
    return operand.written && varies_in_row(operand, rows);
  };
  for (const Operand& operand : plan.operands) {
    if (is_stored(operand) && operand.access_bytes < kLeastOfParts) return rows.row_threads;
  }
  const double bytes = streamed_bytes(plan, rows, vectors);
  const auto count = vectors_across_rows(plan, rows);
  if (!writes_elements(plan) || !count ||
      static_cast<double>(*count) * bytes <= device::kBytesUnderWay)
    return rows.row_threads;
  // Of rows that begin within sectors, each step shares one with another step or row.
  const auto parts_of_row = [&](int threads) {
    const std::int64_t steps = ceil_div(vectors, threads);
    const auto in_parts = [&](const Operand& operand) {
      const int access = operand.access_bytes;
      const std::int64_t row = vectors * plan.vector * size_bytes(operand.dtype);
      return threads * access < device::kSectorBytes || row % device::kSectorBytes != 0;
    };
    const auto outputs = std::ranges::count_if(plan.operands, [&](const Operand& operand) {
      return is_stored(operand) && in_parts(operand);
    });
    return steps > 1 ? static_cast<double>(outputs * steps) : 0;
  };
  // Steps that share sectors of a narrow input come too late for the L1 cache if much is under way.
  const auto comes_again = [&](int threads) {
    return threads * least_access(plan, rows) < device::kSectorBytes / 2 &&
           ceil_div(vectors, threads) * loaded_bytes(plan, rows) > kMostComingAgain;
  };
  const auto lacks_threads = [&](int threads) {
    return comes_again(threads) ||
           parts_of_row(threads) / device::kPartsOfUs > kMostByParts * bytes / device::kBytesOfUs;
  };
  int threads = rows.row_threads;
  while (2 * threads <= vectors + 1 && lacks_threads(threads)) threads *= 2;
  return threads;
}

bool gains_by_more(const Plan& plan, const Rows& rows, std::int64_t vectors, int threads) {
  const std::int64_t steps = ceil_div(vectors, threads);
  const double clocks = plan.vector * kClocksOfInstruction * instructions_of_element(plan, rows);
  return clocks * static_cast<double>(steps - ceil_div(steps, 2)) >
         kClocksOfTurn * static_cast<double>(count_reductions(plan));
}

bool takes_less_alone(const Plan& plan, const Rows& rows, std::int64_t length,
                      std::int64_t sharing) {
  if (sharing == 1 || length > kMostAlone) return false;
  const double clocks = plan.vector * kClocksOfInstruction * instructions_of_element(plan, rows);
  return clocks * static_cast<double>(length - ceil_div(length, sharing)) <=
         kClocksOfMeeting * static_cast<double>(count_reductions(plan));
}

bool waits_for_turns(const Plan& plan, const Rows& rows) {
  const auto count = vectors_across_rows(plan, rows);
  return count && *count * rows.row_threads <= device::kManyBlocks * kThreadsOfLarge &&
         rows.register_vectors <= kMostOfTurns;
}

}  // namespace tilejit::plan
