#include "plan/vectors.hpp"

#include <algorithm>

#include "device/access.hpp"
#include "device/scale.hpp"
#include "plan/launch_shape.hpp"
#include "rows/row_shape.hpp"
#include "rows/rows.hpp"
#include "scan/scan.hpp"
#include "thread_value/thread_value.hpp"
#include "tile/tiling.hpp"
#include "tilejit/error.hpp"

namespace tilejit::plan {
namespace {

constexpr int kNarrowAccess = 8;        // bytes
constexpr int kLeastVectorsOfRow = 16;  // of rows that are peeled or shifted
constexpr std::int64_t kLongColumn = 1024;
constexpr std::int64_t kVeryLongColumn = 4096;
constexpr std::int64_t kFewColumns = 256, kFewVeryLongColumns = 1025;
constexpr std::int64_t kLongNarrowColumn = 64;  // of one or two bytes
constexpr int kShortShifted = 4;                // of a vector of short columns
constexpr int kOfTwoChunks = 2;                 // elements that come by as many loads
constexpr std::int64_t kFewBytesOfColumn = 12;  // which leave a multiprocessor 24 KB under way
constexpr int kMostShifted = 8;  // elements of a vector of a tile: registers hold squares
constexpr int kShortSide = 32;   // vectors of a tile's mode, of which the last counts
constexpr double kFewSquares = device::kThreadsAtOnce / 2.0;
// Elements of two bytes or more on a side: registers leave room for half of all threads.
constexpr int kLargeSquare = 8;
// To peel fewer elements takes longer than it saves: of rows that are read once, and of maps.
constexpr double kFewElements = 1 << 19, kFewElementsOfMap = 1 << 18;
constexpr std::int64_t kVectorsOfFew = 32;        // of these rows, if they are held
constexpr std::int64_t kVectorsOfFewWords = 128;  // the same if words of more threads are as fast
constexpr double kLeastOfWords = 1 << 18;         // elements of all such rows
constexpr std::int64_t kShortWeighted = 1024;     // elements of a row that several weights meet
constexpr double kManyWeighted = 1 << 22;         // elements of such rows
constexpr std::int64_t kLongRow = 4096;           // elements
constexpr double kThreadsOfFew = device::kThreadsAtOnce;  // of maps: shorter vectors have as many
constexpr double kThreadsOfHeavy = 4 * kThreadsOfFew;     // if formulas are heavy: by 8 bytes
constexpr std::int64_t kHeavyWeight = 40;                 // expr::weight of an element
constexpr double kTiny = 1 << 13;                         // elements
// Of tiles: a block of single elements on each multiprocessor.
constexpr double kFewOfTile = static_cast<double>(device::kManyBlocks * kMaxTileThreads);
constexpr std::int64_t kWeightOfFew = 32;  // expr::weight of a vector that is as fast whole
constexpr std::int64_t kHeldByCluster = std::int64_t{8} * 512 * 32;  // registers
constexpr double kUnknownExtent = 1e15;
constexpr std::int64_t kMostOfRow = std::int64_t{1} << 30;

bool is_wide(const Operand& operand) {
  return operand.reach == Reach::contiguous || operand.reach == Reach::transposed;
}

/// Whether threads access the operand by vectors.
bool takes_vectors(const Operand& operand) {
  return is_wide(operand) && !operand.per_row;
}

class Chooser {
 public:
  Chooser(const Fused& op, const formula::Analysis& analysis,
          std::optional<std::size_t> transposed_mode, bool light, Plan& plan, bool by_pairs)
      : op_(op),
        analysis_(analysis),
        transposed_mode_(transposed_mode),
        light_(light),
        by_pairs_(by_pairs || op.tuning.vector),
        plan_(plan) {}

  /// The most elements per vector that keep every wide store and at least one load aligned. The
  /// other loads are split, and the L1 cache makes up for that. Stores are never split.
  void choose() {
    const int wanted = aligned_in_short_columns(wanted_vector());
    if (const auto* tv = std::get_if<ThreadValue>(&plan_.family)) check_run(*tv, wanted);
    int vector = std::ranges::any_of(plan_.operands, is_wide) ? 1 : wanted;
    // What all rows share, or has one element per row or column, is too little to decide.
    const Rows* const rows = rows_of(plan_);
    const auto decides = [&](const Operand& operand) {
      return takes_vectors(operand) && !operand.every_row &&
             (rows == nullptr || varies_in_row(operand, *rows));
    };
    const bool any = std::ranges::any_of(plan_.operands, decides);
    for (const Operand& operand : plan_.operands) {
      if (any ? decides(operand) : is_wide(operand))
        vector = std::max(vector, widest_access(operand, wanted));
    }
    if (!neighbours_have_strides()) vector = 1;
    for (const Operand& operand : plan_.operands) {
      if (operand.written && takes_vectors(operand))
        vector = std::min(vector, widest_access(operand, vector));
    }
    if (const int peeled = widest_of_peeled(wanted); vector < peeled && peels(vector, peeled)) {
      vector = peeled;
      plan_.peeled = true;
      for (Operand& operand : plan_.operands) {
        operand.shifted =
            takes_vectors(operand) && !begins_with(operand, *vector_leader(plan_), peeled);
      }
    } else if (const int most = transposed_mode_ ? std::min(wanted, kMostShifted) : wanted;
               vector < most && shifts(vector, most)) {
      vector = most;
      for (Operand& operand : plan_.operands) {
        operand.shifted = takes_vectors(operand) && !is_aligned(operand, vector);
      }
    }
    if (vector < wanted && splits(vector)) vector = wanted;
    if (transposed_mode_ && !op_.tuning.vector && !has_shifted()) {
      vector = std::min(vector, widest_of_transposed(vector));
      if (only_stores_few(vector)) vector = 1;
      if (has_squares_for_one_warp(vector)) vector /= 2;
    }
    if (op_.tuning.vector && vector != wanted) {
      throw Error(ErrorCode::invalid_spec,
                  "vectors of " + std::to_string(wanted) +
                      " elements are not aligned in every row; use " + std::to_string(vector) +
                      ", or promise larger alignments or divisors",
                  "/tuning/vector");
    }
    plan_.vector = vector;
    plan_.ragged =
        plan_.peeled || formula::divisor(plan_.extents.front(), analysis_.symbols) % vector != 0;
    for (Operand& operand : plan_.operands) {
      const int bytes = size_bytes(operand.dtype);
      const int elements =
          operand.shifted || plan_.peeled ? vector : widest_access(operand, vector);
      operand.access_bytes =
          is_wide(operand) ? std::min(device::kWidestAccess, elements * bytes) : bytes;
    }
  }

 private:
  [[nodiscard]] bool has_shifted() const {
    return std::ranges::count(plan_.operands, true, &Operand::shifted) != 0;
  }

  /// The widest aligned access to an operand that is transposed. Squares that come by narrower ones
  /// take more requests, which have as many lines.
  [[nodiscard]] int widest_of_transposed(int vector) const {
    int widest = 1;
    for (const Operand& operand : plan_.operands) {
      if (operand.reach != Reach::transposed) continue;
      const int bytes = size_bytes(operand.dtype);
      const int least =
          bytes >= device::kLargeElement ? 1 : std::min(vector, kNarrowAccess / bytes);
      widest = std::max({widest, widest_access(operand, vector), least});
    }
    return widest;
  }

  /// Whether only stores gain by vectors of a tile, and the device has a thread for each element:
  /// inputs come by as many loads as without, and a thread would compute a square's elements one
  /// after another.
  [[nodiscard]] bool only_stores_few(int vector) const {
    return elements() <= kFewOfTile &&
           std::ranges::none_of(plan_.operands, [&](const Operand& operand) {
             return operand.read && takes_vectors(operand) && widest_access(operand, vector) > 1;
           });
  }

  /// Whether each matrix has as many large squares as a warp has threads, of several inputs: with
  /// registers for these, a multiprocessor has 24 blocks, so that most of its warps are missing.
  [[nodiscard]] bool has_squares_for_one_warp(int vector) const {
    const Dim &columns = plan_.extents.front(), &rows = plan_.extents[*transposed_mode_];
    const auto inputs = std::ranges::count_if(plan_.operands, [&](const Operand& operand) {
      return operand.read && takes_vectors(operand);
    });
    return vector >= kLargeSquare && inputs > 1 && columns.is_known() && rows.is_known() &&
           columns.value() * rows.value() <= std::int64_t{vector} * vector * kWarp;
  }

  /// Short columns that are read once take what they load and store about as often: vectors are
  /// aligned in all of it.
  [[nodiscard]] int aligned_in_short_columns(int vector) const {
    if (light_ || op_.tuning.vector || !has_short_columns(plan_)) return vector;
    const int most = vector;
    const Rows& rows = *rows_of(plan_);
    for (const Operand& operand : plan_.operands) {
      const bool loads = operand.read && varies_in_row(operand, rows);
      if (is_wide(operand) && (loads || operand.per_row)) vector = widest_access(operand, vector);
    }
    return vector == 1 ? std::clamp(shifted_of_short_columns(), 1, most) : vector;
  }

  /// Elements of a vector that is shifted, of short columns that are odd, and so many that such
  /// threads fill the device; 0 if there are none. All that is stored is aligned to these, and
  /// elements are narrow, unless columns are so short that single ones keep little under way.
  [[nodiscard]] int shifted_of_short_columns() const {
    if (!has_short_columns(plan_)) return 0;
    const Rows& rows = *rows_of(plan_);
    int widest = 0;
    bool aligned = true;
    for (const Operand& operand : plan_.operands) {
      if (operand.per_row && !is_wide(operand)) return 0;
      if (operand.per_row) aligned = aligned && is_aligned(operand, kShortShifted);
      if (varies_in_row(operand, rows)) widest = std::max(widest, size_bytes(operand.dtype));
    }
    const auto columns = vectors_across_rows(plan_, rows);  // vectors have one element here
    const auto length = vectors_in_row(plan_, rows);
    if (!columns || *columns < 2 * kShortShifted * device::kThreadsAtOnce) return 0;
    const bool is_tiny = length && *length * widest <= kFewBytesOfColumn;
    if (widest < device::kLargeElement && (aligned || (is_tiny && has_heavy_values(plan_))))
      return kShortShifted;
    return is_tiny ? kOfTwoChunks : 0;
  }

  /// Whether the rows of both operands begin as many elements behind an aligned address.
  static bool lies_with(const Operand& operand, const Operand& leader, int vector) {
    for (std::size_t m = 1; m < operand.modes.size(); ++m) {
      const OperandMode &one = operand.modes[m], &other = leader.modes[m];
      if (one.size() != other.size()) return false;
      for (std::size_t i = 0; i < one.size(); ++i) {
        const bool known = one[i].stride.is_known() && other[i].stride.is_known();
        if (one[i].extent != other[i].extent || !known) return false;
        if ((one[i].stride.value() - other[i].stride.value()) % vector != 0) return false;
      }
    }
    return true;
  }

  /// The same of memory, in which the tensors begin as well.
  [[nodiscard]] bool begins_with(const Operand& operand, const Operand& leader, int vector) const {
    return begins_aligned(operand) && lies_with(operand, leader, vector);
  }

  [[nodiscard]] bool begins_aligned(const Operand& operand) const {
    return op_.tensors[static_cast<std::size_t>(operand.tensor)].align % device::kWidestAccess == 0;
  }

  /// Whether aligned vectors of `vector` elements take less than `bytes` an access, or the caller
  /// wants others.
  [[nodiscard]] bool is_narrow(int vector, int bytes) const {
    int widest = 0;
    for (const Operand& operand : plan_.operands) {
      if (takes_vectors(operand) && !operand.every_row)
        widest = std::max(widest, vector * size_bytes(operand.dtype));
    }
    return widest > 0 && (widest < bytes || op_.tuning.vector);
  }

  /// The most elements of a vector, `wanted` at most, that begin together in all outputs of a map:
  /// two of different orders may agree only about pairs. These are of 4 bytes at least.
  [[nodiscard]] int widest_of_peeled(int wanted) const {
    const Operand* const leader = vector_leader(plan_);
    if (!std::holds_alternative<Map>(plan_.family) || leader == nullptr) return wanted;
    const auto begins_apart = [&](const Operand& operand) {
      return operand.written && takes_vectors(operand) && has_long_rows(operand, wanted) &&
             !begins_with(operand, *leader, wanted);
    };
    while (wanted * size_bytes(leader->dtype) > device::kLargeElement &&
           std::ranges::any_of(plan_.operands, begins_apart))
      wanted /= 2;
    return wanted;
  }

  /// Whether vectors of `wanted` elements may begin where the rows' memory is aligned
  /// (Plan::peeled) and gain by it. Rows must be long: what is cut off at their ends goes by
  /// elements.
  [[nodiscard]] bool peels(int vector, int wanted) const {
    const Rows* const rows = rows_of(plan_);
    const bool along = rows != nullptr && rows->along();
    const bool map = std::holds_alternative<Map>(plan_.family) && !transposed_mode_;
    if (light_ || !(along || map) || plan_.extents.size() == 1) return false;
    if (along && !direction_of(plan_) && has_alike_rows(plan_, *rows)) return false;
    const bool held = along && !direction_of(plan_) && reads_again(*rows);
    const bool few = elements() < (map ? kFewElementsOfMap : kFewElements);
    const Dim& row = plan_.extents.front();
    const bool waits = direction_of(plan_) && row.is_known() && row.value() >= kLongRow;
    const bool shared = std::ranges::any_of(plan_.operands, &Operand::every_row);
    const std::int64_t least = comes_by_words() ? kVectorsOfFewWords : kVectorsOfFew;
    const bool gains = held && shared && (!row.is_known() || row.value() >= least * wanted);
    if (few && !gains && !waits && !op_.tuning.vector) return false;
    // Places are numbered element by element, which conditions at the ends of rows make dearer.
    const bool is_long = !row.is_known() || row.value() >= kLongRow;
    if (held && !plan_.places.empty() && !is_long && !op_.tuning.vector) return false;
    // Rows that are held between passes are loaded as fast by accesses of 4 bytes, unless weights
    // double these that are long, or of few rows.
    const bool weighted = shared && (few || (row.is_known() && row.value() >= kLongRow));
    if (!is_narrow(vector, held && !weighted ? device::kLargeElement : kNarrowAccess)) return false;
    const Operand* const leader = vector_leader(plan_);
    if (leader == nullptr || is_aligned(*leader, wanted)) return false;
    int shifted = 0;  // weights of two bytes
    for (const Operand& operand : plan_.operands) {
      if (!takes_vectors(operand)) continue;
      if (!has_long_rows(operand, wanted)) return false;
      if (begins_with(operand, *leader, wanted)) continue;
      if (operand.written) return false;
      if (operand.every_row && size_bytes(operand.dtype) < device::kLargeElement) ++shifted;
      // Two chunks and a shift take as long as the words of which a vector consists.
      if (along && !operand.every_row && size_bytes(operand.dtype) >= device::kLargeElement)
        return false;
    }
    // Each pass shifts the weights again, which much data does not hide.
    if (held && shifted > 1 && elements() >= kManyWeighted && !op_.tuning.vector &&
        row.is_known() && row.value() < kShortWeighted)
      return false;
    return begins_with(*leader, *leader, wanted) && neighbours_have_strides();
  }

  /// Whether few rows with several weights come as fast by words of more threads, since there are
  /// enough of them for most of the device.
  [[nodiscard]] bool comes_by_words() const {
    const auto is_narrow = [&](const Operand& operand) {
      return takes_vectors(operand) && !operand.every_row &&
             size_bytes(operand.dtype) < device::kLargeElement;
    };
    return elements() >= kLeastOfWords && std::ranges::none_of(plan_.operands, is_narrow) &&
           std::ranges::count(plan_.operands, true, &Operand::every_row) > 1;
  }

  /// Whether rows are read more than once, or would be if clusters did not hold them.
  [[nodiscard]] bool reads_again(const Rows& rows) const {
    if (!is_one_pass(plan_)) return true;
    const auto length = elements_in_row(plan_, rows);
    return has_centres(plan_) && !is_heavy(plan_, rows) && plan_.target.major >= 9 && length &&
           *length * registers_of_vector(plan_, rows) <= kHeldByCluster;
  }

  /// Whether vectors of `wanted` elements may be shifted in registers where rows of a tile's
  /// operands, or of columns, are not aligned to them, and gain by it. Most columns are faster by
  /// elements, which leave room for more threads, and so are tiles of large elements.
  [[nodiscard]] bool shifts(int vector, int wanted) const {
    const Rows* const rows = rows_of(plan_);
    // Whole columns of a thread are shifted by pairs of words: single ones share sectors, which are
    // stored in parts, with those of the next warp.
    const bool pairs = wanted == kOfTwoChunks && !is_narrow(1, device::kLargeElement);
    const bool columns = rows != nullptr && !rows->along() &&
                         ((direction_of(plan_) && (!scans_alone(plan_) || pairs)) ||
                          op_.tuning.vector || suits_shifts(*rows, wanted));
    if (light_ || !(transposed_mode_ || columns) || !is_narrow(vector, kNarrowAccess)) return false;
    if (transposed_mode_ && !by_pairs_ && is_narrow(wanted, kNarrowAccess)) return false;
    // A scan shifts its vectors twice, and short columns have few.
    const bool few = columns && !op_.tuning.vector &&
                     vectors_in_row(plan_, *rows).value_or(kMostOfRow) < kLongColumn;
    if ((direction_of(plan_) || few) && vector > 1 && !is_narrow(vector, device::kLargeElement))
      return false;
    const auto can_be = [&](const Operand& operand) {
      const bool gains = columns || size_bytes(operand.dtype) < device::kLargeElement;
      return !takes_vectors(operand) || is_aligned(operand, wanted) ||
             (gains && has_long_rows(operand, wanted));
    };
    return neighbours_have_strides() && std::ranges::all_of(plan_.operands, can_be);
  }

  /// Whether columns that are read once are loaded in pieces of 4 bytes.
  [[nodiscard]] bool splits(int vector) const {
    const Rows* const rows = rows_of(plan_);
    return !light_ && rows != nullptr && !rows->along() && !direction_of(plan_) &&
           is_one_pass(plan_) && !has_shifted() && vector > 1 && is_narrow(vector, kNarrowAccess) &&
           !is_narrow(vector, device::kLargeElement) && neighbours_have_strides();
  }

  /// Whether columns are read once, and so long that what threads do beside their loads
  /// counts more than the registers that shifts take from other threads.
  [[nodiscard]] bool suits_shifts(const Rows& rows, int wanted) const {
    if (has_short_columns(plan_)) return shifted_of_short_columns() > 0;
    // As many loads of elements, by twice the threads.
    if (wanted <= kOfTwoChunks && is_heavy(plan_, rows)) return false;
    int widest = 0;
    for (const Operand& operand : plan_.operands) {
      if (takes_vectors(operand)) widest = std::max(widest, size_bytes(operand.dtype));
    }
    // So few are shared by splits, of which blocks enough load elements.
    const auto length = vectors_in_row(plan_, rows), count = vectors_across_rows(plan_, rows);
    const bool costs = count_reductions(plan_) > 1 || is_heavy(plan_, rows);
    const bool very_long = length.value_or(0) >= kVeryLongColumn && costs;
    if (count.value_or(kMostOfRow) < (very_long ? kFewVeryLongColumns : kFewColumns)) return false;
    const bool narrow = widest < device::kLargeElement && count_reductions(plan_) == 1;
    const std::int64_t least = narrow ? kLongNarrowColumn : kLongColumn;
    return is_one_pass(plan_) && widest <= device::kLargeElement &&
           length.value_or(kMostOfRow) >= least;
  }

  /// Whether neighbours along the innermost mode have a common stride in every operand and place,
  /// except in inputs of flat maps and in what crosses tiles.
  [[nodiscard]] bool neighbours_have_strides() const {
    const auto has_stride = [](const auto& value) { return value.modes.front().size() == 1; };
    const auto crosses = [](const Operand& operand) { return operand.reach == Reach::transposed; };
    const auto* const map = std::get_if<Map>(&plan_.family);
    if (map != nullptr && map->flat) return true;
    return std::ranges::all_of(
               plan_.operands,
               [&](const Operand& operand) { return crosses(operand) || has_stride(operand); }) &&
           std::ranges::all_of(plan_.places, has_stride);
  }

  /// What tile/peeled.cuh and tile/shifted.cuh ask for.
  [[nodiscard]] bool has_long_rows(const Operand& operand, int vector) const {
    const Tensor& tensor = op_.tensors[static_cast<std::size_t>(operand.tensor)];
    const int bytes = vector * size_bytes(operand.dtype);
    const Dim& extent = plan_.extents[operand.reach == Reach::transposed ? *transposed_mode_ : 0];
    const bool known = std::ranges::all_of(tensor.layout.leaves(), [](const Mode& leaf) {
      return leaf.extent.is_known() && leaf.stride.is_known();
    });
    // Rows keep chunks of their weights, which are counted from where a tensor begins.
    const bool begins = begins_aligned(operand) || rows_of(plan_) == nullptr;
    return known && begins && bytes >= 4 && bytes <= device::kWidestAccess &&
           extent.value() >= std::int64_t{kLeastVectorsOfRow} * vector &&
           extent.value() < kMostOfRow;
  }

  /// Weights and the like do not decide if all is aligned: those of wide elements would halve the
  /// accesses to narrow ones.
  [[nodiscard]] int wanted_vector() const {
    if (light_) return 1;
    if (op_.tuning.vector) return *op_.tuning.vector;
    const bool map = std::holds_alternative<Map>(plan_.family) && !transposed_mode_;
    const int most = default_vector([&](const Operand& operand) {
      return operand.written || !(map ? repeats(operand) : operand.every_row);
    });
    const bool aligned = std::ranges::all_of(plan_.operands, [&](const Operand& operand) {
      return !takes_vectors(operand) || is_aligned(operand, most);
    });
    return aligned ? most : default_vector([](const Operand&) { return true; });
  }

  /// As many elements as make 16 bytes of the widest contiguous type of those that decide. Narrower
  /// types then take 8, 4 or 2 bytes per thread, which still fill whole sectors across a warp.
  template <class Decides>
  [[nodiscard]] int default_vector(Decides decides) const {
    int widest = 0;
    for (const Operand& operand : plan_.operands) {
      if (takes_vectors(operand) && decides(operand))
        widest = std::max(widest, size_bytes(operand.dtype));
    }
    int vector =
        std::min({widest == 0 ? rows_at_once() : device::kWidestAccess / widest,
                  most_scanned_at_once(plan_), most_of_small_rows(plan_), most_of_columns(plan_)});
    const auto* const tv = std::get_if<ThreadValue>(&plan_.family);
    if (tv != nullptr) vector = std::min(vector, tv->run);
    if (transposed_mode_) vector = most_of_tile(vector);
    if (std::holds_alternative<Map>(plan_.family) && !transposed_mode_) {
      const std::int64_t weight = expr::weight(plan_.program);
      const auto halve = [&](std::int64_t least, double threads) {
        while (vector > least && vector * weight > kWeightOfFew && elements() < vector * threads)
          vector /= 2;
      };
      halve(1, kThreadsOfFew);
      if (weight >= kHeavyWeight) halve(kNarrowAccess / widest_of_own(), kThreadsOfHeavy);
    }
    const Rows* const rows = rows_of(plan_);
    const bool along = rows != nullptr && rows->along() && !direction_of(plan_);
    const bool map = std::holds_alternative<Map>(plan_.family) && !transposed_mode_;
    if (along || map) {
      // The end of a row goes by elements, which is what a tiny problem waits for. A map of one row
      // loses nothing by shorter vectors as long as the device has a thread for each.
      const Dim& row = plan_.extents.front();
      const double few = map && plan_.extents.size() == 1 ? kThreadsOfFew : kTiny;
      const bool tiny = elements() > vector && elements() < few;
      while (vector > 1 && tiny && row.value() % vector != 0) vector /= 2;
    }
    return static_cast<int>(std::min<std::int64_t>(vector, elements_within_budget(plan_)));
  }

  /// As many columns whose elements lie apart as keep the memory busy, if each is a few bytes and
  /// the next one follows.
  [[nodiscard]] int rows_at_once() const {
    const Rows* const rows = rows_of(plan_);
    if (rows == nullptr || rows->along() || direction_of(plan_)) return 1;
    const std::int64_t count = vectors_across_rows(plan_, *rows).value_or(0);
    std::int64_t bytes = 0;
    for (const Operand& operand : plan_.operands) {
      const OperandMode &next = operand.modes[0], &row = operand.modes[rows->first];
      if (!spans_space(operand, *rows) || next.size() != 1 || row.size() != 1) continue;
      if (next[0].stride != plan_.extents[rows->first] * row[0].stride) return 1;
      bytes += next[0].stride.is_known() ? next[0].stride.value() * size_bytes(operand.dtype)
                                         : device::kBytesUnderWay;
    }
    int vector = 1;
    while (bytes > 0 && vector * bytes * device::kMostThreadsAtOnce < device::kBytesUnderWay &&
           count >= 2 * vector * device::kMostThreadsAtOnce)
      vector *= 2;
    return vector;
  }

  /// Bytes of an element, in the widest operand of a map that has elements of its own.
  [[nodiscard]] int widest_of_own() const {
    int widest = 1;
    for (const Operand& operand : plan_.operands) {
      if (takes_vectors(operand) && !repeats(operand))
        widest = std::max(widest, size_bytes(operand.dtype));
    }
    return widest;
  }

  /// Elements of the space; very many if extents are not known.
  [[nodiscard]] double elements() const {
    double elements = 1;
    for (const Dim& extent : plan_.extents) {
      elements *= extent.is_known() ? static_cast<double>(extent.value()) : kUnknownExtent;
    }
    return elements;
  }

  /// Of fewer squares of `vector` by `vector` elements of so many bytes, smaller ones are taken.
  static double few_squares_of(int vector, int bytes) {
    return vector == kLargeSquare && bytes > 1 ? 2 * kFewSquares : kFewSquares;
  }

  /// Squares at the end of a mode that vectors do not divide go by elements, so vectors divide the
  /// short modes of a tile if they can. With few squares, smaller ones have more threads.
  [[nodiscard]] int most_of_tile(int vector) const {
    const Dim &columns = plan_.extents.front(), &rows = plan_.extents[*transposed_mode_];
    if (!std::ranges::all_of(plan_.extents, &Dim::is_known)) return vector;
    int widest = 1;
    for (const Operand& operand : plan_.operands)
      widest = std::max(widest, size_bytes(operand.dtype));
    while (vector > 2 && elements() < few_squares_of(vector, widest) * vector * vector) vector /= 2;
    const auto cuts = [&](const Dim& extent, int by) {
      return extent.value() % by != 0 && extent.value() < std::int64_t{kShortSide} * by;
    };
    int whole = vector;
    while (whole * widest > device::kLargeElement && (cuts(columns, whole) || cuts(rows, whole)))
      whole /= 2;
    return cuts(columns, whole) || cuts(rows, whole) ? vector : whole;
  }

  /// The most elements, at most `vector`, that keep every access of 16 bytes or less aligned.
  [[nodiscard]] int widest_access(const Operand& operand, int vector) const {
    while (vector > 1 && !is_aligned(operand, vector)) vector /= 2;
    return vector;
  }

  [[nodiscard]] bool is_aligned(const Operand& operand, int vector) const {
    const int bytes = size_bytes(operand.dtype);
    const std::int64_t access = std::min(device::kWidestAccess, vector * bytes);
    if (op_.tensors[static_cast<std::size_t>(operand.tensor)].align % access != 0) return false;
    const std::size_t contiguous = operand.reach == Reach::transposed ? *transposed_mode_ : 0;
    for (std::size_t m = 0; m < operand.modes.size(); ++m) {
      if (m == contiguous) continue;
      for (const Mode& leaf : operand.modes[m]) {
        if (formula::divisor(leaf.stride, analysis_.symbols) % (access / bytes) != 0) return false;
      }
    }
    return true;
  }

  const Fused& op_;
  const formula::Analysis& analysis_;
  std::optional<std::size_t> transposed_mode_;
  bool light_, by_pairs_;
  Plan& plan_;
};

}  // namespace

const Operand* vector_leader(const Plan& plan) {
  const Operand* leader = nullptr;
  for (const Operand& operand : plan.operands) {
    if (!takes_vectors(operand)) continue;
    if (operand.written) return &operand;
    const bool wider = leader == nullptr || size_bytes(operand.dtype) > size_bytes(leader->dtype);
    if (wider && !operand.every_row) leader = &operand;
  }
  return leader;
}

std::int64_t rows_of_vector(const Operand& operand, std::int64_t vector) {
  return (vector - 1) / operand.modes.front().front().extent.value() + 2;
}

Plan with_vector(Plan plan, int vector) {
  plan.vector = vector;
  plan.ragged = plan.extents.front().value() % vector != 0;
  for (Operand& operand : plan.operands) {
    if (operand.reach == Reach::contiguous)
      operand.access_bytes = std::min(operand.access_bytes, vector * size_bytes(operand.dtype));
  }
  return plan;
}

void choose_vector(const Fused& op, const formula::Analysis& analysis,
                   std::optional<std::size_t> transposed_mode, bool light, Plan& plan,
                   bool by_pairs) {
  Chooser(op, analysis, transposed_mode, light, plan, by_pairs).choose();
}

}  // namespace tilejit::plan
