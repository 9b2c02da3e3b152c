#include "reference/results.hpp"

#include "reference/multiply.hpp"

namespace tilejit::reference {

using expr::NodeId;

Accumulator fresh(const Problem& problem, NodeId id) {
  const expr::Node& node = problem.program.nodes[id];
  return {node, problem.program.nodes[node.args[0]].type};
}

Result make_result(const Problem& problem, std::span<const int> axes, NodeId id,
                   WithBounds with_bounds) {
  Result result;
  result.modes.resize(problem.shape.size());
  std::int64_t count = 1;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    const std::int64_t extent = problem.shape[*axis];
    result.modes[*axis] = {{extent, count}};
    count *= extent;
  }
  const auto elements = static_cast<std::size_t>(count);
  if (is_floating(problem.program.nodes[id].type)) {
    result.reals.resize(elements);
  } else {
    result.integers.resize(elements);
  }
  if (with_bounds == WithBounds::yes) result.bounds.resize(elements);
  // Results that combine no value keep this.
  const Reduced nothing = fresh(problem, id).result();
  for (std::int64_t i = 0; i < count; ++i) write(result, i, nothing);
  return result;
}

void write(Result& result, std::int64_t index, const Reduced& value) noexcept {
  const auto at = static_cast<std::size_t>(index);
  if (!result.reals.empty()) result.reals[at] = value.real;
  if (!result.integers.empty()) result.integers[at] = value.integer;
  if (!result.bounds.empty()) result.bounds[at] = value.bound;
}

Results combine(const Problem& problem, const Schedule& schedule, WithBounds with_bounds) {
  Results results(problem.program.nodes.size());
  if (problem.product)
    results[static_cast<std::size_t>(problem.product->node)] = multiply(problem, with_bounds);
  for (const Pass& pass : schedule.combinations) {
    if (pass.scans.empty()) {
      reduce(problem, pass, results, with_bounds);
    } else {
      scan(problem, pass, results, with_bounds);
    }
  }
  return results;
}

}  // namespace tilejit::reference
