#include "sheared/shearing.hpp"

#include <algorithm>

#include "core/integer.hpp"
#include "device/access.hpp"
#include "device/scale.hpp"
#include "plan/launch_shape.hpp"

namespace tilejit::plan {
namespace {

constexpr int kNarrowElement = 2;  // bytes
constexpr int kWordElements = 4;   // of a vector at least: lines are read in groups of four
constexpr int kColumns = 128;      // of a tile
constexpr std::int64_t kFewestTiles = 5 * device::kMultiprocessors / 2;
constexpr double kFullTile = 0.7;  // of its slots
constexpr std::int64_t kMostOfMode = std::int64_t{1} << 30;

bool is_plain(const OperandMode& leaves) {
  return leaves.size() == 1 && leaves[0].stride.is_known();
}

std::int64_t stride_along(const Operand& operand, std::size_t m) {
  return operand.modes[m][0].stride.value();
}

class Shearing {
 public:
  Shearing(const Plan& plan, const Tile& tile) : plan_(plan), tile_(tile) {}

  std::optional<Plan> plan() {
    if (!is_known() || !set_vector()) return std::nullopt;
    if (!is_odd() || !std::ranges::all_of(plan_.operands, [&](const Operand& operand) {
          return operand.reach == Reach::transposed ? can_cross(operand) : lies_along(operand);
        }))
      return std::nullopt;
    if (!set_sides()) return std::nullopt;
    return finished();
  }

 private:
  [[nodiscard]] bool is_known() const {
    const auto is_fit = [](const auto& value) {
      return std::ranges::all_of(value.modes, is_plain);
    };
    const auto is_short = [](const Dim& extent) {
      return extent.is_known() && extent.value() < kMostOfMode;
    };
    return std::ranges::all_of(plan_.extents, is_short) &&
           std::ranges::all_of(plan_.operands, is_fit) && std::ranges::all_of(plan_.places, is_fit);
  }

  /// As many elements as make 16 bytes of the widest operand.
  bool set_vector() {
    leader_ = vector_leader(plan_);
    int widest = 1;
    for (const Operand& operand : plan_.operands) {
      if (operand.reach != Reach::broadcast) widest = std::max(widest, size_bytes(operand.dtype));
    }
    if (leader_ == nullptr || !leader_->written || size_bytes(leader_->dtype) > kNarrowElement)
      return false;
    vector_ = device::kWidestAccess / widest;
    return vector_ >= kWordElements && vector_ <= elements_within_budget(plan_);
  }

  /// Whether rows of narrow elements are not aligned: tiles then access them element by element, or
  /// shift them.
  [[nodiscard]] bool is_odd() const {
    return std::ranges::any_of(plan_.operands, [](const Operand& operand) {
      const int bytes = size_bytes(operand.dtype);
      return (operand.reach == Reach::transposed || operand.written) && bytes <= kNarrowElement &&
             (operand.shifted || operand.access_bytes == bytes);
    });
  }

  /// Whether the lines of a transposed operand can be copied by words.
  [[nodiscard]] bool can_cross(const Operand& operand) const {
    const int bytes = size_bytes(operand.dtype);
    return !operand.written && bytes <= device::kBankBytes &&
           stride_along(operand, 0) * bytes >= device::kBankBytes;
  }

  /// Whether vectors of another operand begin where those of the output do, and none before its
  /// first element: rows begin up to a sector early.
  [[nodiscard]] bool lies_along(const Operand& operand) const {
    const Tensor& tensor = plan_.signature.tensors[static_cast<std::size_t>(operand.tensor)];
    if (operand.reach == Reach::broadcast) return true;
    if (operand.reach != Reach::contiguous || tensor.align % device::kWidestAccess != 0)
      return false;
    const int shear = shear_of(plan_);
    for (std::size_t m = 1; m < operand.modes.size(); ++m) {
      const std::int64_t stride = stride_along(operand, m);
      const std::int64_t apart = stride - stride_along(*leader_, m);
      if (apart % (stride < shear ? shear : vector_) != 0) return false;
    }
    return true;
  }

  /// As many rows as make a line of memory of the narrowest transposed operand.
  bool set_sides() {
    int narrowest = device::kBankBytes;
    for (const Operand& operand : plan_.operands) {
      if (operand.reach == Reach::transposed)
        narrowest = std::min(narrowest, size_bytes(operand.dtype));
    }
    sheared_.mode = tile_.mode;
    sheared_.columns = kColumns;
    sheared_.rows = device::kLineBytes / narrowest;
    sheared_.ragged = tile_.ragged;
    return count_tiles() >= kFewestTiles && fullness() >= kFullTile &&
           shared_bytes(plan_, sheared_) <= device::kStaticSharedBytes;
  }

  /// The part of the tiles' elements that the space has. Rows may end a sector later.
  [[nodiscard]] double fullness() const {
    const auto part = [](std::int64_t extent, std::int64_t counted, std::int64_t side) {
      return static_cast<double>(extent) /
             static_cast<double>(core::ceil_div(counted, side) * side);
    };
    const std::int64_t columns = plan_.extents[0].value(), rows = plan_.extents[tile_.mode].value();
    return part(columns, columns + shear_of(plan_) - 1, sheared_.columns) *
           part(rows, rows, sheared_.rows);
  }

  [[nodiscard]] std::int64_t count_tiles() const {
    std::int64_t count = 1;
    for (std::size_t m = 0; m < plan_.extents.size(); ++m) {
      const std::int64_t side = m == 0 ? sheared_.columns : m == tile_.mode ? sheared_.rows : 1;
      count = std::min(kFewestTiles, count) *
              std::min(kFewestTiles, core::ceil_div(plan_.extents[m].value(), side));
    }
    return count;
  }

  [[nodiscard]] Plan finished() const {
    Plan plan = plan_;
    plan.family = sheared_;
    plan.vector = vector_;
    plan.ragged = plan.peeled = true;
    for (Operand& operand : plan.operands) {
      const int bytes = size_bytes(operand.dtype);
      operand.shifted = false;
      operand.access_bytes = operand.reach == Reach::broadcast    ? bytes
                             : operand.reach == Reach::transposed ? device::kBankBytes
                                                                  : vector_ * bytes;
    }
    choose_launch(plan, {});
    return plan;
  }

  const Plan& plan_;
  const Tile& tile_;
  const Operand* leader_ = nullptr;
  int vector_ = 1;
  Sheared sheared_;
};

}  // namespace

int shear_of(const Plan& plan) {
  return device::kSectorBytes / size_bytes(vector_leader(plan)->dtype);
}

std::int64_t shared_bytes(const Plan& plan, const Sheared& sheared) {
  std::int64_t bytes = 0;
  for (const Operand& operand : plan.operands) {
    if (operand.reach != Reach::transposed) continue;
    // An odd number of words for each row, and one more for each 32 rows: tile/turned_lines.cuh.
    const int lines = sheared.columns + shear_of(plan);
    const int words = (lines * size_bytes(operand.dtype) / device::kBankBytes) | 1;
    bytes += std::int64_t{sheared.rows * words + sheared.rows / 32} * device::kBankBytes;
  }
  return bytes;
}

std::optional<Plan> plan_by_shearing(const Plan& plan) {
  const auto* const tile = std::get_if<Tile>(&plan.family);
  return tile == nullptr ? std::nullopt : Shearing(plan, *tile).plan();
}

}  // namespace tilejit::plan
