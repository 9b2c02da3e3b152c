#include "reference/keep.hpp"

#include <algorithm>
#include <cmath>

#include "arithmetic/cast.hpp"
#include "arithmetic/convert.hpp"
#include "reference/bounds.hpp"
#include "reference/cast.hpp"
#include "reference/execute.hpp"

namespace tilejit::reference {

KeptValues make_kept(DType dtype, std::int64_t elements, WithBounds with_bounds) {
  const auto count = static_cast<std::size_t>(elements);
  KeptValues kept;
  (is_floating(dtype) ? kept.reals.resize(count) : kept.integers.resize(count));
  if (with_bounds == WithBounds::yes) kept.bounds.resize(count);
  return kept;
}

namespace {

/// What is stored, before it was cast to the tensor's type: a cast to f16 makes 0 of what is merely
/// small.
expr::NodeId before_cast(const expr::Program& program, expr::NodeId stored) {
  const expr::Node& node = program.nodes[stored];
  if (node.op != expr::Op::cast || !is_floating(program.nodes[node.args[0]].type)) return stored;
  return node.args[0];
}

}  // namespace

void keep(const Problem& problem, const Block& block, const expr::Store& store) {
  const TensorView& tensor = problem.tensors[store.tensor];
  KeptValues& kept = *tensor.keeps;
  const DType to = tensor.dtype, from = problem.program.nodes[store.value].type;
  const expr::NodeId uncast = before_cast(problem.program, store.value);
  const std::span<const std::int64_t> at = block.offsets(store.tensor);
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto offset = static_cast<std::size_t>(at[i]);
    if (!is_floating(to)) {
      kept.integers[offset] = block.integers(store.value)[i];
      if (!kept.bounds.empty()) kept.bounds[offset] = block.bounds(store.value)[i];
      continue;
    }
    const double value = block.reals(store.value)[i];
    const double rounded = cast_real(from, to, value);
    kept.reals[offset] = rounded;
    if (kept.bounds.empty()) continue;
    const Approx exact = {value, block.bounds(store.value)[i]};
    double& bound = kept.bounds[offset];
    bound = cast_bound(from, to, exact, rounded);
    if (!is_excluded({block.reals(uncast)[i], block.bounds(uncast)[i]}))
      bound += tensor.error.relative * (std::fabs(rounded) + bound) + tensor.error.absolute;
  }
}

void keep(const Problem& problem, const Schedule& schedule, const Results& results,
          WithBounds with_bounds) {
  for (Pass pass : schedule.stores) {
    std::erase_if(pass.stores, [&](const expr::Store& store) {
      return problem.tensors[store.tensor].keeps == nullptr;
    });
    if (pass.stores.empty()) continue;
    const std::vector<Range> ranges = split(size(pass));
    std::vector<Block> blocks;
    blocks.reserve(ranges.size());
    for (std::size_t i = 0; i < ranges.size(); ++i)
      blocks.emplace_back(problem, pass, results, with_bounds);
    run_parallel(ranges.size(), [&](std::size_t i) {
      Block& block = blocks[i];
      const auto step = static_cast<std::int64_t>(block.capacity());
      for (std::int64_t first = ranges[i].first; first < ranges[i].last; first += step) {
        block.run(first, static_cast<std::size_t>(std::min(step, ranges[i].last - first)));
        for (const expr::Store& store : pass.stores) keep(problem, block, store);
      }
    });
  }
}

}  // namespace tilejit::reference
