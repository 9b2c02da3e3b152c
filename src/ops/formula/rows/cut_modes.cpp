#include <algorithm>

#include "rows/crossed.hpp"

namespace tilejit::plan {

bool is_whole(const OperandMode& mode) {
  return mode.size() == 1 && mode[0].stride.is_known();
}

void cut_mode(std::size_t m, std::int64_t extent, Plan& plan) {
  const Dim rest = *Dim::divide(plan.extents[m], extent);
  const auto cut = [&](std::vector<OperandMode>& modes) {
    const Dim stride = modes[m][0].stride;
    modes[m] = {{extent, stride}};
    modes.insert(modes.begin() + static_cast<std::ptrdiff_t>(m) + 1,
                 OperandMode{{rest, stride * Dim(extent)}});
  };
  for (Operand& operand : plan.operands) cut(operand.modes);
  for (Place& place : plan.places) cut(place.modes);
  plan.extents[m] = extent;
  plan.extents.insert(plan.extents.begin() + static_cast<std::ptrdiff_t>(m) + 1, rest);
}

void move_mode(std::size_t from, std::size_t to, Plan& plan) {
  const auto move = [&](auto& modes) {
    const auto begin = modes.begin();
    std::rotate(begin + static_cast<std::ptrdiff_t>(to), begin + static_cast<std::ptrdiff_t>(from),
                begin + static_cast<std::ptrdiff_t>(from) + 1);
  };
  for (Operand& operand : plan.operands) move(operand.modes);
  for (Place& place : plan.places) move(place.modes);
  move(plan.extents);
}

void erase_single_modes(std::size_t end, Plan& plan, Rows& rows) {
  for (std::size_t m = end; m-- > 1;) {
    if (!plan.extents[m].is(1)) continue;
    const auto erase = [&](auto& modes) {
      modes.erase(modes.begin() + static_cast<std::ptrdiff_t>(m));
    };
    for (Operand& operand : plan.operands) erase(operand.modes);
    for (Place& place : plan.places) erase(place.modes);
    erase(plan.extents);
    --rows.first;
  }
}

}  // namespace tilejit::plan
