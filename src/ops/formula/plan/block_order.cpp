#include "plan/block_order.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "box/walks.hpp"
#include "core/integer.hpp"
#include "device/access.hpp"
#include "device/scale.hpp"
#include "plan/sectors.hpp"

namespace tilejit::plan {
namespace {

// Bytes that pass by until an L2 cache has lost a sector: it has what is written as well.
constexpr double kBytesBetween = device::kBytesOfCache / 2.0;
constexpr double kSectorsOfWritten = 2;  // memory completes a sector, and takes it again
constexpr double kLeastSaved = 0.03;     // of the bytes
// The extent of a mode that is counted first: if it is long, other operands have too many rows and
// pages of memory open at a time (942 in 1402/43 of bench/sweep.py: 106 us, then 115).
constexpr std::int64_t kMostRows = 512;

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

  const Plan& plan_;
  std::vector<std::int64_t> block_;  ///< elements along each mode
  std::vector<double> count_;        ///< blocks along each mode
  double bytes_ = 0, bytes_of_block_ = 0;
};

bool has_known_strides(const Operand& operand) {
  return std::ranges::all_of(operand.modes, [](const OperandMode& leaves) {
    return leaves.size() == 1 && leaves[0].stride.is_known();
  });
}

}  // namespace

void choose_block_order(Plan& plan) {
  if (!first_of(plan) || !std::ranges::all_of(plan.extents, &Dim::is_known) ||
      !std::ranges::all_of(plan.operands, has_known_strides) || plan.extents.front().is(0))
    return;
  const Blocks blocks(plan);
  double least = blocks.fetched_again(0) - kLeastSaved * blocks.bytes();
  std::size_t best = 0;
  for (std::size_t m = 1; m < plan.extents.size() && least > 0; ++m) {
    if (plan.extents[m].value() > kMostRows) continue;
    if (const double bytes = blocks.fetched_again(m); bytes < least) best = m, least = bytes;
  }
  set_first(plan, best);
}

std::vector<std::size_t> order_of_blocks(const Plan& plan) {
  std::vector<std::size_t> order(plan.extents.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto at = order.begin() + static_cast<std::ptrdiff_t>(first_of(plan).value_or(0));
  std::rotate(order.begin(), at, at + 1);
  return order;
}

}  // namespace tilejit::plan
