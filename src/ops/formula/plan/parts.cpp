#include "plan/parts.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "plan/iteration.hpp"
#include "plan/params.hpp"
#include "plan/row_totals.hpp"
#include "plan/split.hpp"
#include "tilejit/error.hpp"

namespace tilejit::plan {
namespace {

/// The plan without its parts: the interface that a launch sees.
Plan outline(const Fused& op, const formula::Analysis& analysis, const Target& target) {
  Plan plan;
  const auto leader = static_cast<std::size_t>(analysis.program.stores.front().tensor);
  plan.kernel_name = kernel_name_of(op, leader);
  plan.target = target;
  plan.signature = signature_of(op, analysis);
  plan.program = analysis.program;
  std::vector<std::size_t> axes(analysis.shape.size());
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  const std::vector<IterationMode> modes = iterate_together(op, analysis, axes, leader);
  for (const IterationMode& mode : modes) plan.extents.push_back(mode.extent);
  for (std::size_t t = 0; t < op.tensors.size(); ++t) {
    Operand operand = make_operand(op, analysis, modes, t);
    operand.access_bytes = size_bytes(operand.dtype);
    plan.operands.push_back(std::move(operand));
  }
  plan.params = params_of_outline(op, analysis, plan);
  plan.params_bytes = operation::struct_bytes(plan.params);
  return plan;
}

bool only_reduces(const expr::Program& program) {
  const auto scans = [](const expr::Node& node) { return expr::is_scan(node.op); };
  return formula::has_reductions(program) && std::ranges::none_of(program.nodes, scans);
}

}  // namespace

bool is_one_kernel(const expr::Program& program) {
  std::uint32_t axes = 0;
  std::optional<bool> reverse;
  std::vector<bool> scanned;  // per node: made of a scan's result
  for (const expr::Node& node : program.nodes) {
    const bool of_scan = std::ranges::any_of(node.args, [&](expr::NodeId arg) {
      return arg != expr::kNoNode && scanned[static_cast<std::size_t>(arg)];
    });
    scanned.push_back(of_scan || expr::is_scan(node.op));
    if (!expr::combines_elements(node.op)) continue;
    if (of_scan || (axes != 0 && node.axes != axes)) return false;
    axes = node.axes;
    if (!expr::is_scan(node.op)) continue;
    if (reverse && *reverse != node.reverse) return false;
    reverse = node.reverse;
  }
  return true;
}

void check_tuning_of_several(const Tuning& tuning) {
  if (tuning == Tuning{.atomics = tuning.atomics}) return;
  throw Error(ErrorCode::invalid_spec,
              "the formula takes several kernels, and a layout or knobs of one kernel are pinned; "
              "remove them, or split the formula",
              tuning.tv ? "/tv" : "/tuning");
}

Plan plan_parts(const Fused& op, const formula::Analysis& analysis, const Target& target,
                Split parts, std::vector<formula::Analysis>* of_parts) {
  check_tuning_of_several(op.tuning);
  Plan plan = outline(op, analysis, target);
  auto& several = plan.family.emplace<Several>();
  for (Part& part : parts.parts) {
    if (only_reduces(part.analysis.program)) part.op.tuning.atomics = op.tuning.atomics;
    Plan planned = make_plan_in_space(part.op, part.analysis, target, analysis.shape);
    planned.kernel_name = plan.kernel_name + "_part" + std::to_string(several.parts.size());
    planned.tensors = std::move(part.tensors);
    for (std::size_t t = 0; t < part.offsets.size(); ++t)
      planned.operands[t].offset = part.offsets[t];
    leave_totals(parts, several.parts.size(), op.tensors.size(), planned);
    if (of_parts != nullptr) of_parts->push_back(std::move(part.analysis));
    several.parts.push_back(std::move(planned));
  }
  several.temporaries = std::move(parts.temporaries);
  return plan;
}

}  // namespace tilejit::plan
