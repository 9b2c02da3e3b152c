// The plan as later parts see it: kernels launched one after another, and memory between them.
#include <utility>

#include "plan/plan.hpp"

namespace tilejit::plan {
namespace {

using operation::GridRule;
using operation::LaunchPlan;
using operation::Step;
using operation::Workspace;

/// From compute capability 9.0 on, a kernel can start early and wait for the end of the kernel
/// before it.
bool can_overlap(const Plan& plan) noexcept {
  return plan.target.major >= 9;
}

/// Whether each block takes one unit after another.
bool is_resident(const Plan& plan) {
  if (const auto* wgmma = std::get_if<MatmulWgmma>(&plan.family)) return wgmma->splits == 1;
  const Rows* const rows = rows_of(plan);
  return std::holds_alternative<AttentionWgmma>(plan.family) || (rows != nullptr && rows->ahead);
}

GridRule grid_of(const Plan& plan) {
  GridRule grid{.units_per_block = units_per_block(plan),
                .blocks_per_unit = blocks_per_unit(plan),
                .units_in_32_bits = rows_of(plan) != nullptr,
                .resident = is_resident(plan)};
  for (std::size_t m = 0; m < plan.extents.size(); ++m) {
    if (const std::int64_t per = unit_extent(plan, m); per != 0) {
      grid.units.push_back({counted_extent(plan, m), per});
    }
  }
  return grid;
}

int cluster_of(const Plan& plan) {
  if (const auto* wgmma = std::get_if<MatmulWgmma>(&plan.family)) return wgmma->blocks_of_cluster();
  const Rows* const rows = rows_of(plan);
  return rows != nullptr ? rows->cluster : 1;
}

Step kernel_step(const Plan& plan) {
  return {.entry = plan.kernel_name,
          .wide_entry = index_of(plan) == IndexWidth::both ? plan.kernel_name + "_wide" : "",
          .grid = grid_of(plan),
          .threads = plan.threads,
          .cluster = cluster_of(plan),
          .shared_bytes = dynamic_shared_bytes(plan),
          .params = plan.params,
          .params_bytes = plan.params_bytes};
}

/// The second kernel if blocks share rows through memory.
Step combining_step(const Plan& plan) {
  return {.entry = plan.kernel_name + "_combine",
          .grid = {.units = {{combining_blocks(plan), 1}}},
          .threads = combining_threads(plan),
          .params = plan.params,
          .params_bytes = plan.params_bytes,
          .overlaps_previous = can_overlap(plan)};
}

constexpr std::int64_t kBytesOfCounter = 4;

void add_kernels(const Plan& plan, LaunchPlan& launch) {
  launch.steps.push_back(kernel_step(plan));
  if (leaves_partials(plan)) {
    launch.workspaces.push_back(
        {.bytes = partials_bytes(plan, *matmul_of(plan)), .zeroed = true, .kept = true});
  }
  if (counts_tiles(plan)) {
    launch.workspaces.push_back({.bytes = kBytesOfCounter, .zeroed = true, .kept = true});
  }
  const Rows* const rows = rows_of(plan);
  if (rows == nullptr || rows->splits == 1) return;
  const bool counts = rows->atomics;
  launch.workspaces.push_back({.bytes = partials_bytes(plan), .zeroed = counts, .kept = true});
  if (!counts) launch.steps.push_back(combining_step(plan));
}

/// Gives each tensor places of its own.
void set_apart(LaunchPlan& launch) {
  launch.extents = {2};
  std::int64_t number = 0;
  for (auto& modes : launch.elements) modes = {{{2, ++number}}};
}

/// Adds the kernels of a part. The tensors of a part are temporaries and some of the operation's
/// tensors.
void add_part(const Plan& plan, const Plan& part, LaunchPlan& launch) {
  LaunchPlan own;
  add_kernels(part, own);
  const int tensors = static_cast<int>(plan.signature.tensors.size());
  const int workspaces = static_cast<int>(launch.workspaces.size());
  for (Step& step : own.steps) {
    for (Param& param : step.params) {
      if (param.kind == Param::Kind::workspace) param.index += workspaces;
      const bool is_map = param.kind == Param::Kind::tensor_map;
      if (param.kind != Param::Kind::pointer && !is_map) continue;
      param.index = part.tensors[static_cast<std::size_t>(param.index)];
      if (param.index < tensors) continue;
      if (is_map) {
        param.map.base = operation::TensorMap::Base::workspace;
      } else {
        param.kind = Param::Kind::workspace;
      }
      param.index -= tensors;
    }
    step.overlaps_previous = can_overlap(plan) && !launch.steps.empty();
    launch.steps.push_back(std::move(step));
  }
  launch.workspaces.insert(launch.workspaces.end(), own.workspaces.begin(), own.workspaces.end());
}

}  // namespace

LaunchPlan launch_plan(const Plan& plan) {
  LaunchPlan launch{.extents = plan.extents};
  for (const Operand& operand : plan.operands) launch.elements.push_back(operand.modes);
  const auto* const several = std::get_if<Several>(&plan.family);
  if (several == nullptr) {
    add_kernels(plan, launch);
    return launch;
  }
  if (several->apart) set_apart(launch);
  for (const Temporary& temporary : several->temporaries) {
    launch.workspaces.push_back({.bytes = temporary.elements * Dim(size_bytes(temporary.dtype))});
  }
  for (const Plan& part : several->parts) add_part(plan, part, launch);
  return launch;
}

}  // namespace tilejit::plan
