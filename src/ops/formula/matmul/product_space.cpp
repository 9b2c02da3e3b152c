#include "matmul/product_space.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "plan/iteration.hpp"
#include "plan/parts.hpp"

namespace tilejit::plan {
namespace {

bool is_contiguous(const Fused& op, const formula::Analysis& analysis, std::size_t tensor,
                   std::size_t axis) {
  const auto modes = iterate_by_axis(op, analysis, {axis});
  const OperandMode& leaves = modes.front().operands[tensor];
  return leaves.size() == 1 && leaves.front().stride.is(1) && !analysis.shape[axis].is(1);
}

/// Row-major numbers along the axes of which the program asks.
void set_places(const formula::Analysis& analysis, const std::vector<std::size_t>& axes,
                Plan& plan) {
  for (const expr::Node& node : analysis.program.nodes) {
    if (node.op == expr::Op::extent) plan.shape = analysis.shape;
    if (node.op != expr::Op::index ||
        std::ranges::count(plan.places, node.axes, &Place::axes) != 0) {
      continue;
    }
    Place place{.axes = node.axes};
    for (const std::size_t axis : axes) {
      Dim stride = expr::has_axis(node.axes, axis) ? 1 : 0;
      for (std::size_t later = axis + 1; later < analysis.shape.size(); ++later) {
        if (expr::has_axis(node.axes, later)) stride = stride * analysis.shape[later];
      }
      place.modes.push_back({{analysis.shape[axis], stride}});
    }
    plan.places.push_back(std::move(place));
  }
}

}  // namespace

bool set_space_of_product(const Fused& op, const formula::Analysis& analysis, std::size_t leader,
                          Plan& plan) {
  const std::size_t rank = analysis.shape.size();
  std::vector<std::size_t> axes = {rank - 1, rank - 2};
  const bool along_m = !is_contiguous(op, analysis, leader, rank - 1) &&
                       is_contiguous(op, analysis, leader, rank - 2);
  if (along_m) std::swap(axes[0], axes[1]);
  for (std::size_t i = rank - 2; i-- > 0;) axes.push_back(i);
  const std::vector<IterationMode> modes = iterate_by_axis(op, analysis, axes);
  for (const IterationMode& mode : modes) plan.extents.push_back(mode.extent);
  for (std::size_t t = 0; t < op.tensors.size(); ++t) {
    plan.operands.push_back(make_operand(op, analysis, modes, t));
  }
  set_places(analysis, axes, plan);
  return along_m;
}

}  // namespace tilejit::plan
