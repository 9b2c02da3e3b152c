// Columns that go through shared memory: rows that lie side by side, element by element, and that
// are so few, or so odd, that threads would access them in narrow pieces.
#include <algorithm>
#include <bit>
#include <numeric>

#include "core/integer.hpp"
#include "device/access.hpp"
#include "device/device.hpp"
#include "device/scale.hpp"
#include "rows/row_threads.hpp"
#include "rows/rows.hpp"
#include "staged/runs.hpp"

namespace tilejit::plan {
namespace {

using core::ceil_div;

constexpr int kWord = 4;
constexpr int kMostThreads = 512;                      // of a block
constexpr int kLeastThreads = 128;                     // if there are enough slabs
constexpr std::int64_t kBytesOfThread = 40;            // of inputs
constexpr std::int64_t kBytesOfScattered = 24;         // if results of neighbours lie apart
constexpr int kHeldWords = 16;                         // of a row, about, by a thread
constexpr int kHeldVectors = 36;                       // if they are smaller than a word
constexpr int kFewHeld = 8;                            // not shared among more threads
constexpr int kStages = 3;                             // chunks of a slab in shared memory
constexpr int kElementsOfChunk = 32;                   // of a row; half of them if they are large
constexpr std::int64_t kBytesOfChunk = 2 * 1024;       // of inputs, at least
constexpr int kLeastChunks = 4;                        // of a row; shorter ones are held by groups
constexpr int kLeastColumnsOfChunk = 4;                // fewer leave most lanes of a warp idle
constexpr int kMostColumnsOfChunk = 1024;              // each of which takes a thread
constexpr std::int64_t kBytesOfBlock = 6 * 1024;       // of inputs
constexpr std::int64_t kMostBytesOfSlabs = 16 * 1024;  // of shared memory, if slabs are several
constexpr int kBytesBesides = 2 * 1024;                // of shared memory, for each block
constexpr std::int64_t kManyBytes =
    4 * device::kLineBytes;  // of columns side by side, if they are not very short
constexpr std::int64_t kShortColumn = 8;
constexpr std::int64_t kTinyColumn = 4;  // which a thread has alone wherever it is
constexpr std::int64_t kLeastSlabs = 2 * device::kManyBlocks;
constexpr std::int64_t kLeastElements = std::int64_t{1} << 19;
constexpr std::int64_t kLeastElementsOfWords = std::int64_t{1} << 20;
// Bytes of all slabs' chunks that are on their way.
constexpr std::int64_t kLeastUnderWay = device::kBytesUnderWay / 3;
// Strips of a slab, of which blocks have one each.
constexpr int kElementsOfStrip = 16;  // of a chunk of its columns
constexpr int kMostColumnsOfStrip = 512;
constexpr int kLeastColumnsOfStrip = 256;
constexpr double kGainOfNarrow = 1.1;  // in columns of a multiprocessor
constexpr double kMostUneven = 1.25;   // the same, of all that multiprocessors could have

/// The number of kept modes behind the reduced one, whose elements lie side by side in `operand`;
/// 0 if it is not laid out so.
std::size_t inner_modes(const Plan& plan, const Rows& rows, const Operand& operand) {
  const OperandMode& reduced = operand.modes[rows.first];
  if (reduced.size() != 1 || !reduced[0].stride.is_known()) return 0;
  std::int64_t inner = 1;
  for (std::size_t m = 0; m < rows.first; ++m) {
    if (!plan.extents[m].is_known()) return 0;
    inner *= plan.extents[m].value();
    if (inner == reduced[0].stride.value()) return m + 1;
  }
  return 0;
}

/// `plan` with the reduced mode first, whose elements are taken one by one from shared memory.
Plan with_slabs(const Plan& plan, const Rows& rows, std::size_t inner) {
  Plan slabs = plan;
  StagedRows staged{rows, 1, direction_of(plan)};
  staged.first = 0;
  for (std::size_t m = 0; m < inner; ++m)
    staged.columns *= static_cast<int>(plan.extents[m].value());
  const auto bring_forward = [&](auto& modes) {
    const auto reduced = modes.begin() + static_cast<std::ptrdiff_t>(rows.first);
    std::rotate(modes.begin(), reduced, reduced + 1);
  };
  bring_forward(slabs.extents);
  for (Operand& operand : slabs.operands) bring_forward(operand.modes);
  for (Place& place : slabs.places) bring_forward(place.modes);
  slabs.family = staged;
  slabs.vector = slabs.unroll = 1;
  slabs.ragged = slabs.peeled = false;
  for (Operand& operand : slabs.operands) {
    operand.shifted = false;
    operand.access_bytes = size_bytes(operand.dtype);
    const OperandMode& innermost = operand.modes.front();
    const bool staged_run = staged_pitch(slabs, operand).has_value();
    if (staged_run) operand.access_bytes = device::kWidestAccess;
    const bool one = innermost.size() == 1;
    operand.reach = one && innermost[0].stride.is(0) && !operand.written ? Reach::broadcast
                    : staged_run || (one && innermost[0].stride.is(1))   ? Reach::contiguous
                                                                         : Reach::strided;
  }
  return slabs;
}

/// Threads share rows until each holds few elements; more of them if the device has room. A row
/// that is scanned has one thread if that holds it, since several fold their parts first, and
/// chunks of rows go through large slabs.
void share_rows(const Plan& plan, std::int64_t rows, StagedRows& staged) {
  const std::int64_t length = plan.extents.front().value();
  const std::int64_t wanted = widest_vector(plan) < kWord ? kHeldVectors : kHeldWords;
  const std::int64_t most = most_held(plan, staged);
  const auto held = [&] { return ceil_div(length, staged.row_threads); };
  staged.row_threads = 1;
  const bool shared =
      !staged.direction ||
      (held() > most && staged.columns * shared_bytes_of_row(plan, staged) <= kMostBytesOfSlabs);
  while (shared && staged.row_threads < kWarp &&
         (held() > most || 9 * length > 10 * wanted * staged.row_threads ||
          (held() > kFewHeld && rows * staged.row_threads < device::kThreadsAtOnce)))
    staged.row_threads *= 2;
  // Parts of a row that follow one another are odd, so that threads ask different banks.
  const std::int64_t part = staged.direction && staged.row_threads > 1 ? held() | 1 : held();
  // A block's threads share the rows of fused_scan.cu, which a warp would go through too slowly.
  const bool slow = staged.direction && held() >= 2 * kHeldWords && staged.row_threads == kWarp &&
                    rows * kWarp < device::kThreadsAtOnce;
  staged.register_vectors = part <= most && !slow ? static_cast<int>(part) : 0;
}

/// Blocks have several slabs until they read enough, if there are enough blocks.
void fill_block(Plan& plan, std::int64_t count, StagedRows& staged) {
  const std::int64_t columns = staged.columns, sharing = columns * staged.row_threads;
  const std::int64_t bytes = columns * input_bytes_of_row(plan, staged);
  const std::int64_t shared = columns * shared_bytes_of_row(plan, staged);
  const std::int64_t wanted =
      std::max(kBytesOfBlock / bytes, ceil_div(std::int64_t{kLeastThreads}, sharing));
  const std::int64_t most =
      std::min(kMostBytesOfSlabs / shared, count / (2 * device::kWantedBlocks));
  staged.slabs = static_cast<int>(std::max<std::int64_t>(1, std::min(wanted, most)));
  const std::int64_t rows = staged.slabs * columns;
  // A multiprocessor has as many threads, whatever blocks have of them, so blocks of fewer threads
  // have more bytes under way. A second turn would leave half of the threads idle.
  const bool scatters = std::ranges::any_of(plan.operands, [](const Operand& operand) {
    return operand.per_row && !operand.modes[1][0].stride.is(1);
  });
  // Threads that only reduce take no turns while the device has room for more of them.
  const std::int64_t room = writes_elements(plan) ? 0
                                                  : device::kMostThreadsAtOnce * staged.slabs /
                                                        std::max<std::int64_t>(1, count);
  const std::int64_t wide = staged.slabs * bytes / (scatters ? kBytesOfScattered : kBytesOfThread);
  const auto suited = std::clamp<std::int64_t>(std::max(room, wide), kLeastThreads, kMostThreads);
  const std::int64_t all = rows * staged.row_threads;
  const bool takes_one = 2 * all <= 3 * suited && all <= kMostThreads;
  const std::int64_t turns = takes_one ? 1 : ceil_div(all, suited);
  const std::int64_t threads = ceil_div(rows, turns) * staged.row_threads;
  plan.threads = static_cast<int>(ceil_div(threads, std::int64_t{kWarp})) * kWarp;
  staged.turns = static_cast<int>(ceil_div(rows, std::int64_t{plan.threads / staged.row_threads}));
}

/// Whether columns would be accessed by less than 16 bytes, and by words in less than lines.
/// Threads that have a column each fill lines as well if there are many columns and these are not
/// very short.
bool are_narrow(const Plan& plan, const StagedRows& staged) {
  const int widest = widest_vector(plan);  // an element
  if (widest == 0) return false;
  const int access = std::gcd(staged.columns * widest, device::kWidestAccess);
  const std::int64_t bytes = std::int64_t{staged.columns} * widest;
  // Groups of threads are powers of two: of three vectors side by side, blocks would take two.
  if (access == device::kWidestAccess) {
    const auto vectors = static_cast<std::uint64_t>(bytes / device::kWidestAccess);
    return bytes < device::kLineBytes && !std::has_single_bit(vectors) &&
           plan.extents.front().value() >= kShortColumn;
  }
  if (staged.direction && plan.extents.front().value() > most_held(plan, staged)) return true;
  if (access >= kWord) return bytes < device::kLineBytes;
  const bool fits = staged.direction || staged.columns * shared_bytes_of_row(plan, staged) <=
                                            kMostBytesOfSlabs;  // several at once
  return bytes < kManyBytes || (plan.extents.front().value() < kShortColumn && fits);
}

/// The columns of strips into which slabs of `side` columns are cut. Wide strips share fewer
/// sectors with their neighbours; narrower ones are taken if the multiprocessor with the most
/// columns then has a tenth fewer. 0 if it still has many more than if all had as many.
int columns_of_strips(std::int64_t side, std::int64_t slabs) {
  const auto columns_of = [&](std::int64_t strips) { return ceil_div(side, strips); };
  const auto most_of = [&](std::int64_t strips) {
    return ceil_div(strips * slabs, std::int64_t{device::kMultiprocessors}) * columns_of(strips);
  };
  const std::int64_t least = ceil_div(side, std::int64_t{kMostColumnsOfStrip});
  std::int64_t best = least;
  for (std::int64_t strips = least; columns_of(strips) >= kLeastColumnsOfStrip; ++strips) {
    if (kGainOfNarrow * static_cast<double>(most_of(strips)) < static_cast<double>(most_of(best)))
      best = strips;
  }
  const auto all = static_cast<double>(side * slabs);
  const auto taken = static_cast<double>(most_of(best) * device::kMultiprocessors);
  const bool balanced = kMostUneven * all >= taken;
  return balanced ? static_cast<int>(columns_of(best)) : 0;
}

int narrowest_element(const Plan& plan) {
  int bytes = device::kWidestAccess;
  for (const Operand& operand : plan.operands) bytes = std::min(bytes, size_bytes(operand.dtype));
  return bytes;
}

/// Slabs that no block takes whole are cut in strips. A chunk begins within 16 bytes as the slab
/// does.
bool cut_in_strips(Plan& plan, std::int64_t slabs, int room, StagedRows& staged) {
  const std::int64_t side = staged.columns, length = plan.extents.front().value();
  if (plan.extents[1] != Dim(side)) return false;
  staged.columns = columns_of_strips(side, slabs);
  if (staged.columns == 0) return false;
  staged.side = side;
  staged.row_threads = staged.slabs = staged.turns = 1;
  staged.stages = kStages;
  staged.register_vectors = kElementsOfStrip;
  // Half as many still begin alike if an element has two bytes.
  if (staged_bytes(plan, staged) > room && narrowest_element(plan) > 1)
    staged.register_vectors /= 2;
  plan.unroll = staged.register_vectors;
  plan.threads =
      static_cast<int>(ceil_div(std::int64_t{staged.columns}, std::int64_t{kWarp})) * kWarp;
  return length >= std::int64_t{kLeastChunks} * staged.register_vectors &&
         staged.register_vectors <= most_held(plan, staged) && staged_bytes(plan, staged) <= room;
}

/// Rows that no thread holds pass by in chunks if they are only scanned: a thread goes down each.
bool scan_by_chunks(Plan& plan, std::int64_t slabs, int room, StagedRows& staged) {
  if (!staged.direction || formula::has_reductions(plan.program) ||
      staged.columns < kLeastColumnsOfChunk ||
      std::ranges::any_of(plan.operands, &Operand::per_row))
    return false;
  if (staged.columns > kMostColumnsOfChunk) return cut_in_strips(plan, slabs, room, staged);
  staged.row_threads = staged.slabs = staged.turns = 1;
  staged.stages = kStages;
  const std::int64_t length = plan.extents.front().value();
  const std::int64_t bytes =
      staged.columns * input_bytes_of_row(plan, staged) / length;  // side by side
  const bool small = bytes * kElementsOfChunk < kBytesOfChunk;
  staged.register_vectors = small ? 2 * kElementsOfChunk : kElementsOfChunk;
  if (staged_bytes(plan, staged) > room) staged.register_vectors = kElementsOfChunk / 2;
  // Memory waits for few slabs whose chunks are small.
  if (slabs * (kStages - 1) * bytes * staged.register_vectors < kLeastUnderWay) return false;
  plan.unroll = staged.register_vectors;
  plan.threads =
      static_cast<int>(ceil_div(std::int64_t{staged.columns}, std::int64_t{kWarp})) * kWarp;
  return staged.register_vectors <= most_held(plan, staged) && staged_bytes(plan, staged) <= room &&
         length >= std::int64_t{kLeastChunks} * staged.register_vectors;
}

}  // namespace

std::optional<Plan> plan_by_slabs(const Plan& plan) {
  const Rows* const rows = rows_of(plan);
  if (rows == nullptr || plan.target.major < 8 || rows->along() || rows->count != 1 ||
      !plan.extents[rows->first].is_known())
    return std::nullopt;
  const auto spans = [&](const Operand& operand) { return spans_space(operand, *rows); };
  const auto leader = std::ranges::find_if(plan.operands, spans);
  const std::int64_t length = plan.extents[rows->first].value();
  if (leader == plan.operands.end() || length < 2) return std::nullopt;
  const std::size_t inner = inner_modes(plan, *rows, *leader);
  if (inner == 0) return std::nullopt;
  Plan slabs = with_slabs(plan, *rows, inner);
  auto& staged = std::get<StagedRows>(slabs.family);
  const auto is_elsewhere = [&](const Operand& operand) {
    return (operand.per_row && operand.read) ||
           (spans_space(operand, staged) && !is_full(slabs, operand));
  };
  // A multiprocessor has two blocks, so that one's copies go on while the other computes.
  const int room = device::device_of(plan.target).shared_bytes / 2 - kBytesBesides;
  if (std::ranges::any_of(slabs.operands, is_elsewhere) || !are_narrow(slabs, staged) ||
      input_bytes_of_row(slabs, staged) == 0)  // nothing to stage
    return std::nullopt;
  const std::int64_t many = std::int64_t{1} << 40;
  const std::int64_t count = vectors_across_rows(slabs, staged).value_or(many);
  const bool narrow = widest_vector(slabs) < kWord || staged.direction;
  const std::int64_t number = count / staged.columns;
  const bool cut = staged.direction && staged.columns > kMostColumnsOfChunk &&
                   staged.columns * shared_bytes_of_row(slabs, staged) > room;
  if ((number < kLeastSlabs && !cut) ||
      count * length < (narrow ? kLeastElements : kLeastElementsOfWords) ||
      (!staged.direction && length <= kTinyColumn && moves_little(slabs, staged, count * length)))
    return std::nullopt;
  if (staged.columns * shared_bytes_of_row(slabs, staged) <= room) share_rows(slabs, count, staged);
  // Chunks of fewer columns than a warp has lanes would leave these idle.
  const bool fills = staged.columns >= kWarp && staged.row_threads > 1;
  if (staged.register_vectors == 0 || (staged.direction && fills)) {
    Plan chunks = slabs;
    if (scan_by_chunks(chunks, number, room, std::get<StagedRows>(chunks.family))) return chunks;
    if (staged.register_vectors == 0) return std::nullopt;
  }
  fill_block(slabs, number, staged);
  return slabs;
}

}  // namespace tilejit::plan
