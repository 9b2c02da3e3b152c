#include "expr/axes.hpp"

#include <string>
#include <vector>

namespace tilejit::expr {

std::uint32_t AxisTable::bit(const AxisLiteral& axis) const {
  const int rank = scope_.rank;
  if (rank > kMaxReducedRank) {
    throw Fault{"the operation has " + std::to_string(rank) +
                " axes; reductions, iota and extent work with at most " +
                std::to_string(kMaxReducedRank)};
  }
  if (axis.value < -rank || axis.value >= rank) {
    const std::string range = rank == 1 ? "1 axis, 0 or -1"
                                        : std::to_string(rank) + " axes, " + std::to_string(-rank) +
                                              " to " + std::to_string(rank - 1);
    throw Fault{"axis " + std::to_string(axis.value) + " is out of range: the operation has " +
                    (rank == 0 ? "no axes" : range),
                axis.position};
  }
  const auto position = axis.value < 0 ? axis.value + rank : axis.value;
  return std::uint32_t{1} << position;
}

std::uint32_t AxisTable::mask(std::span<const AxisLiteral> axes) const {
  std::uint32_t mask = 0;
  for (const AxisLiteral& axis : axes) {
    const std::uint32_t next = bit(axis);
    if ((mask & next) != 0) {
      throw Fault{"axis " + std::to_string(axis.value) + " is named twice", axis.position};
    }
    mask |= next;
  }
  return mask;
}

std::uint32_t AxisTable::mask(const AxesNamed& named) const {
  const std::string_view function = named.takes_one;
  if (named.axes) {
    if (!function.empty() && named.axes->size() != 1) {
      throw Fault{quoted(function) + " takes one axis", (*named.axes)[1].position};
    }
    return mask(*named.axes);
  }
  if (!function.empty() && scope_.axis.size() > 1) {
    throw Fault{quoted(function) + " takes one axis, but the operation's \"axis\" has " +
                std::to_string(scope_.axis.size()) + ": name one with axis="};
  }
  return by_default();
}

std::uint32_t AxisTable::by_default() const {
  std::vector<AxisLiteral> axes;
  for (const int axis : scope_.axis) axes.push_back({.value = axis});
  if (axes.empty()) axes.push_back({.value = -1});
  try {
    return mask(axes);
  } catch (Fault& fault) {
    fault.position.reset();  // the default axis has no position in the text
    throw;
  }
}

}  // namespace tilejit::expr
