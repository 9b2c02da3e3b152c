#include <algorithm>

#include "arithmetic/convert.hpp"
#include "reference/block.hpp"
#include "reference/execute.hpp"
#include "reference/keep.hpp"

namespace tilejit::reference {
namespace {

void store(const Problem& problem, const Block& block, const expr::Store& store) {
  const TensorView& tensor = problem.tensors[store.tensor];
  if (tensor.keeps != nullptr) keep(problem, block, store);
  if (tensor.data == nullptr) return;
  auto* base = static_cast<std::byte*>(tensor.data);
  const std::span<const std::int64_t> at = block.offsets(store.tensor);
  const int bytes = size_bytes(tensor.dtype);
  if (is_floating(tensor.dtype)) {
    const std::span<const double> values = block.reals(store.value);
    for (std::size_t i = 0; i < at.size(); ++i) {
      encode(tensor.dtype, values[i], base + at[i] * bytes);
    }
  } else {
    const std::span<const std::int64_t> values = block.integers(store.value);
    for (std::size_t i = 0; i < at.size(); ++i) {
      store_integer(tensor.dtype, values[i], base + at[i] * bytes);
    }
  }
}

void run_pass(const Problem& problem, const Pass& pass, const Results& results) {
  const std::vector<Range> ranges = split(size(pass));
  std::vector<Block>
      blocks;  // made before the threads: a failed allocation must not end the process
  blocks.reserve(ranges.size());
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    blocks.emplace_back(problem, pass, results, WithBounds::no);
  }
  run_parallel(ranges.size(), [&](std::size_t i) {
    Block& block = blocks[i];
    const auto step = static_cast<std::int64_t>(block.capacity());
    for (std::int64_t first = ranges[i].first; first < ranges[i].last; first += step) {
      block.run(first, static_cast<std::size_t>(std::min(step, ranges[i].last - first)));
      for (const expr::Store& output : pass.stores) store(problem, block, output);
    }
  });
}

}  // namespace

void evaluate(const Problem& problem) {
  const Schedule schedule = make_schedule(problem);
  const Results results = combine(problem, schedule, WithBounds::no);
  for (const Pass& pass : schedule.stores) run_pass(problem, pass, results);
}

}  // namespace tilejit::reference
