// Thread-value layouts of the templates, and what warps touch through them.
#include <algorithm>
#include <numeric>

#include "core/integer.hpp"
#include "device/access.hpp"
#include "figures/of_families.hpp"
#include "rows/turned.hpp"
#include "rows/turned_inputs.hpp"
#include "staged/runs.hpp"
#include "tilejit/error.hpp"

namespace tilejit::figures {
namespace {

using plan::Operand;
using plan::Plan;
using plan::Reach;

constexpr std::int64_t kLanes = 32;

/// One mode of a tile as an operand sees it: from the number of an element to its offset.
struct Axis {
  std::int64_t tile_extent = 1, size = 1;
  Layout layout = {};
};

/// The axis that goes through the given modes of the space in order. Mode 0 is rounded up to whole
/// vectors.
Axis axis_of(const Plan& plan, const Operand& operand, const std::vector<std::size_t>& modes,
             std::int64_t tile_extent, const SymbolValues& symbols) {
  Axis axis{.tile_extent = tile_extent};
  IntTuple shape = IntTuple::empty_tuple(), stride = IntTuple::empty_tuple();
  for (const std::size_t m : modes) {
    for (const Mode& leaf : operand.modes[m]) {
      std::int64_t extent = leaf.extent.evaluate(symbols);
      if (m == 0 && operand.modes[m].size() == 1) {
        extent = core::ceil_div(extent, plan.vector) * plan.vector;
      }
      shape.append(extent);
      stride.append(leaf.stride.evaluate(symbols));
      if (__builtin_mul_overflow(axis.size, extent, &axis.size)) axis.size = INT64_MAX;
    }
  }
  if (modes.empty()) shape.append(1), stride.append(0);
  axis.layout = Layout(shape, stride);
  return axis;
}

/// The elements of an operand that a tile covers.
class TileMemory {
 public:
  TileMemory(const Plan& plan, const Operand& operand, const IntTuple& tile,
             const SymbolValues& symbols) {
    const ModesOfTile modes =
        std::visit([&](const auto& family) { return modes_of_tile(plan, family); }, plan.family);
    for (std::size_t i = 0; i < modes.size(); ++i) {
      axes_.push_back(axis_of(plan, operand, modes[i], product(mode(tile, i)).value(), symbols));
    }
  }

  /// The offset, in elements, of the element with this index in the tile; nothing outside the
  /// space.
  [[nodiscard]] std::optional<std::int64_t> operator()(std::int64_t index) const {
    std::int64_t offset = 0;
    for (const Axis& axis : axes_) {
      const std::int64_t at = index % axis.tile_extent;
      index /= axis.tile_extent;
      if (at >= axis.size) return std::nullopt;
      offset += axis.layout(at);
    }
    return offset;
  }

 private:
  std::vector<Axis> axes_;
};

/// Adds the sectors that the request for value `value` touches.
void add_request(const TileMemory& memory, const Layout& layout, std::int64_t lanes,
                 std::int64_t value, int access_bytes, int element_bytes, Sectors& sectors) {
  std::vector<std::int64_t> touched, bytes;
  const Layout threads = mode(layout, 0), values = mode(layout, 1);
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    const auto offset = memory(threads(lane) + values(value));
    if (!offset) continue;
    for (std::int64_t byte = *offset * element_bytes; byte < *offset * element_bytes + access_bytes;
         ++byte) {
      bytes.push_back(byte);
      touched.push_back(byte / device::kSectorBytes);
    }
  }
  const auto distinct = [](std::vector<std::int64_t>& numbers) {
    std::ranges::sort(numbers);
    return std::unique(numbers.begin(), numbers.end()) - numbers.begin();
  };
  sectors.touched += distinct(touched);
  sectors.least += (distinct(bytes) + device::kSectorBytes - 1) / device::kSectorBytes;
}

}  // namespace

IntTuple tuple_of(const std::vector<Dim>& dims) {
  IntTuple tuple = IntTuple::empty_tuple();
  for (const Dim& dim : dims) tuple.append(dim);
  return tuple;
}

Layout flat_layout(const std::vector<Dim>& shape, const std::vector<Dim>& stride) {
  return {tuple_of(shape), tuple_of(stride)};
}

std::vector<std::size_t> modes_of_space(const Plan& plan) {
  std::vector<std::size_t> modes(plan.extents.size());
  std::iota(modes.begin(), modes.end(), std::size_t{0});
  return modes;
}

ThreadValues thread_values(const Plan& plan) {
  return std::visit([&](const auto& family) { return values_of(plan, family); }, plan.family);
}

ThreadValues transposed_values(const Plan& plan, const Operand& operand) {
  if (const auto* box = std::get_if<plan::Box>(&plan.family))
    return transposed_values(plan, *box, operand);
  if (const auto* sheared = std::get_if<plan::Sheared>(&plan.family))
    return transposed_values(plan, *sheared, operand);
  return transposed_values(plan, std::get<plan::Tile>(plan.family), operand);
}

std::optional<Sectors> count_sectors(const Plan& plan, const Operand& operand,
                                     const SymbolValues& symbols) {
  if (operand.per_row || plan::passes_turned(plan, operand) || plan::comes_turned(plan, operand))
    return std::nullopt;
  const int vector_bytes = plan.vector * size_bytes(operand.dtype);
  if (operand.access_bytes > std::max(vector_bytes, 1)) return std::nullopt;  // staged: whole lines
  const auto* const staged = std::get_if<plan::StagedRows>(&plan.family);
  if (staged != nullptr && plan::is_gathered(plan, *staged, operand)) return std::nullopt;
  const ThreadValues tv =
      operand.reach == Reach::transposed ? transposed_values(plan, operand) : thread_values(plan);
  const int element_bytes = size_bytes(operand.dtype);
  const bool repeats = operand.reach == Reach::broadcast;
  // A broadcast vector is one access, and a strided vector is one access per element.
  const int step = repeats ? plan.vector : operand.access_bytes / element_bytes;
  Sectors sectors;
  try {
    const TileMemory memory(plan, operand, tv.tile, symbols);
    const std::int64_t values = size(mode(tv.layout, 1)).value();
    const std::int64_t lanes = std::min<std::int64_t>(kLanes, plan.threads);
    for (std::int64_t value = 0; value < values; value += step) {
      add_request(memory, tv.layout, lanes, value, operand.access_bytes, element_bytes, sectors);
    }
  } catch (const Error&) {  // a symbol without a value, or offsets beyond 2^63-1
    return std::nullopt;
  }
  return sectors;
}

}  // namespace tilejit::figures
