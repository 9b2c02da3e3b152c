#include "plan/block_order.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "box/walks.hpp"
#include "core/integer.hpp"
#include "device/access.hpp"
#include "device/scale.hpp"
#include "plan/sectors.hpp"

namespace tilejit::plan {
namespace {

// Bytes that pass by until an L2 cache has lost a sector: it has what is written as well.
constexpr double kBytesBetween = device::kBytesOfCache / 2.0;
// The same if nothing is left of them: all that a cache has.
constexpr double kBytesOfAll = 2.0 * device::kBytesOfCache;
constexpr double kSectorsOfWritten = 2;  // memory completes a sector, and takes it again
constexpr double kLeastSaved = 0.03;     // of the bytes
// The extent of a mode that is counted first: if it is long, other operands have too many rows and
// pages of memory open at a time (942 in 1402/43 of bench/sweep.py: 106 us, then 115).
constexpr std::int64_t kMostRows = 512;
// Bytes of a row that blocks at once have, from which on it is no matter how many rows there are.
constexpr double kLongPieces = 4096;

/// The mode along which blocks are counted first; nothing if they have no choice.
std::optional<std::size_t> first_of(const Plan& plan) {
  if (const auto* const box = std::get_if<Box>(&plan.family)) return box->first;
  if (const auto* const sheared = std::get_if<Sheared>(&plan.family)) return sheared->first;
  if (const auto* const tile = std::get_if<Tile>(&plan.family)) return tile->first;
  return std::nullopt;
}

void set_first(Plan& plan, std::size_t first) {
  if (auto* const box = std::get_if<Box>(&plan.family)) box->first = first;
  if (auto* const sheared = std::get_if<Sheared>(&plan.family)) sheared->first = first;
  if (auto* const tile = std::get_if<Tile>(&plan.family)) tile->first = first;
}

class Blocks {
 public:
  explicit Blocks(const Plan& plan) : plan_(plan) {
    double elements = 1;
    for (std::size_t m = 0; m < plan.extents.size(); ++m) {
      const std::int64_t extent = plan.extents[m].value();
      block_.push_back(std::min(unit_extent(plan, m), extent));
      count_.push_back(static_cast<double>(core::ceil_div(extent, block_.back())));
      elements *= static_cast<double>(block_.back());
    }
    for (const Operand& operand : plan.operands) {
      if (!is_small_part(plan, operand)) bytes_ += size_bytes(operand.dtype);
    }
    bytes_of_block_ = elements * bytes_;
  }

  /// Bytes fetched again per element if blocks are counted along mode `first` first.
  [[nodiscard]] double fetched_again(std::size_t first) const {
    double bytes = 0;
    for (const Operand& operand : plan_.operands) {
      const auto cut = mode_cut(operand);
      if (!cut || is_small_part(plan_, operand) || between(*cut, first) < kBytesBetween) continue;
      bytes += (operand.written ? kSectorsOfWritten : 1) * device::kSectorBytes *
               meetings_per_element(operand, plan_.extents, block_);
    }
    return bytes;
  }

  /// Bytes of bursts that are fetched again per element if blocks are counted in that order: where
  /// the runs of all blocks that come soon after one another end within a burst.
  [[nodiscard]] double fetched_again(const std::vector<std::size_t>& order) const {
    double bytes = 0;
    for (const Operand& operand : plan_.operands) {
      if (is_small_part(plan_, operand)) continue;
      std::vector<std::int64_t> soon = block_;
      std::int64_t following = 1;
      for (const std::size_t m : order_of(operand)) {
        if (stride_of(operand, m) != following) break;
        if (count_[m] > 1 && between(m, order) >= kBytesOfAll) {
          bytes += static_cast<double>((operand.written ? 2 : 1) * device::kBurstBytes) *
                   meetings_per_element(operand, plan_.extents, soon, device::kBurstBytes);
          break;
        }
        soon[m] = plan_.extents[m].value();
        following *= soon[m];
      }
    }
    return bytes;
  }

  /// Whether blocks that are counted along mode `first` first do not have too many rows and pages
  /// of the operands whose runs they then cut: the mode is short, or those at once have long
  /// pieces.
  [[nodiscard]] bool has_few_rows(std::size_t first) const {
    if (plan_.extents[first].value() <= kMostRows) return true;
    const double at_once = static_cast<double>(device::kThreadsAtOnce / plan_.threads);
    const double columns = std::min(count_[0], at_once / count_[first]);
    return std::ranges::all_of(plan_.operands, [&](const Operand& operand) {
      if (is_small_part(plan_, operand) || mode_cut(operand) == first) return true;
      return mode_cut(operand) == std::size_t{0} &&
             columns * static_cast<double>(block_[0] * size_bytes(operand.dtype)) >= kLongPieces;
    });
  }

  /// Bytes that all large operands have per element.
  [[nodiscard]] double bytes() const { return bytes_; }

 private:
  /// The mode along which the runs of a block's neighbour go on.
  [[nodiscard]] std::optional<std::size_t> mode_cut(const Operand& operand) const {
    std::int64_t following = 1;
    for (const std::size_t m : order_of(operand)) {
      if (stride_of(operand, m) != following) return std::nullopt;
      if (count_[m] > 1) return m;
      following *= plan_.extents[m].value();
    }
    return std::nullopt;
  }

  /// Bytes that pass by between two blocks that are neighbours along mode m.
  [[nodiscard]] double between(std::size_t m, std::size_t first) const {
    if (m == first) return bytes_of_block_;
    double blocks = count_[first];
    for (std::size_t n = 0; n < m; ++n) {
      if (n != first) blocks *= count_[n];
    }
    return blocks * bytes_of_block_;
  }

  /// The same if blocks are counted in that order.
  [[nodiscard]] double between(std::size_t m, const std::vector<std::size_t>& order) const {
    double blocks = 1;
    for (auto n = order.begin(); *n != m; ++n) blocks *= count_[*n];
    return blocks * bytes_of_block_;
  }

  const Plan& plan_;
  std::vector<std::int64_t> block_;  ///< elements along each mode
  std::vector<double> count_;        ///< blocks along each mode
  double bytes_ = 0, bytes_of_block_ = 0;
};

/// The same order, with mode m behind the first one.
std::vector<std::size_t> with_second(std::vector<std::size_t> order, std::size_t m) {
  const auto at = std::ranges::find(order, m);
  std::rotate(order.begin() + 1, at, at + 1);
  return order;
}

bool has_known_strides(const Operand& operand) {
  return std::ranges::all_of(operand.modes, [](const OperandMode& leaves) {
    return leaves.size() == 1 && leaves[0].stride.is_known();
  });
}

bool is_known(const Plan& plan) {
  return std::ranges::all_of(plan.extents, &Dim::is_known) &&
         std::ranges::all_of(plan.operands, has_known_strides) && !plan.extents.front().is(0);
}

/// The mode along which groups of blocks along the first one follow one another, if it is to be
/// another than the innermost. A box has parts of several modes, so that runs go on along one where
/// all blocks along another have been.
std::optional<std::size_t> second_of(const Plan& plan, const std::vector<std::size_t>& order) {
  if (!std::holds_alternative<Box>(plan.family) || !is_known(plan)) return std::nullopt;
  const Blocks blocks(plan);
  std::optional<std::size_t> best;
  double least = blocks.fetched_again(order) - kLeastSaved * blocks.bytes();
  for (std::size_t i = 1; i < order.size() && least > 0; ++i) {
    if (plan.extents[order[i]].value() > kMostRows) continue;
    const double bytes = blocks.fetched_again(with_second(order, order[i]));
    if (bytes < least) best = order[i], least = bytes;
  }
  return best;
}

}  // namespace

void choose_block_order(Plan& plan) {
  if (!first_of(plan) || !is_known(plan)) return;
  const Blocks blocks(plan);
  double least = blocks.fetched_again(0) - kLeastSaved * blocks.bytes();
  std::size_t best = 0;
  for (std::size_t m = 1; m < plan.extents.size() && least > 0; ++m) {
    if (!blocks.has_few_rows(m)) continue;
    if (const double bytes = blocks.fetched_again(m); bytes < least) best = m, least = bytes;
  }
  set_first(plan, best);
}

std::vector<std::size_t> order_of_blocks(const Plan& plan) {
  std::vector<std::size_t> order(plan.extents.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto at = order.begin() + static_cast<std::ptrdiff_t>(first_of(plan).value_or(0));
  std::rotate(order.begin(), at, at + 1);
  const std::optional<std::size_t> second = second_of(plan, order);
  return second ? with_second(std::move(order), *second) : order;
}

}  // namespace tilejit::plan
