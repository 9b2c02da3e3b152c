#include "figures/of_families.hpp"

#include <algorithm>
#include <string>

#include "box/boxing.hpp"
#include "tilejit/layout_algebra.hpp"

namespace tilejit::figures {
namespace {

using plan::Operand;
using plan::Plan;

/// The elements of a box that the threads of a walk have, and the tile of which they are: the box,
/// rounded up to whole steps.
ThreadValues values_of_walk(const plan::Box& box, const plan::Walk& walk) {
  std::vector<Dim> tile(box.extents.begin(), box.extents.end());
  const auto vector_of = [&](std::size_t i) { return i == 0 ? walk.vector : 1; };
  for (std::size_t i = 0; i < walk.modes.size(); ++i) {
    tile[walk.modes[i]] = Dim(walk.threads[i]) * steps_along(box, walk, i) * vector_of(i);
  }
  std::vector<Dim> before(tile.size(), 1);
  for (std::size_t m = 1; m < tile.size(); ++m) before[m] = before[m - 1] * tile[m - 1];
  std::vector<Dim> threads, thread_strides, steps, step_strides;
  steps.emplace_back(walk.vector);
  step_strides.emplace_back(walk.modes.empty() ? Dim(1) : before[walk.modes.front()]);
  for (std::size_t i = 0; i < walk.modes.size(); ++i) {
    const Dim next = before[walk.modes[i]] * vector_of(i);
    threads.emplace_back(walk.threads[i]);
    thread_strides.push_back(next);
    steps.emplace_back(steps_along(box, walk, i));
    step_strides.push_back(next * walk.threads[i]);
  }
  return {tuple_of(tile), make_layout({coalesce(flat_layout(threads, thread_strides)),
                                       coalesce(flat_layout(steps, step_strides))})};
}

}  // namespace

Sentences why(const Plan& plan, const plan::Box& box) {
  if (box.transposed.empty()) {
    return {
        "all operands are walked in the outputs' order, element by element; what lies between a "
        "thread's elements is known when compiling, so that none is numbered by itself."};
  }
  std::string transposed;
  for (const plan::Transposed& operand : box.transposed) {
    transposed += (transposed.empty() ? "" : ", ") +
                  name_of(plan, plan.operands[static_cast<std::size_t>(operand.tensor)]);
  }
  return {
      transposed +
      " lies in another order than the first output, in runs of several modes or short ones, so "
      "boxes of the space are reordered in shared memory element by element."};
}

ThreadValues values_of(const Plan&, const plan::Box& box) {
  return values_of_walk(box, box.direct);
}

ThreadValues transposed_values(const Plan&, const plan::Box& box, const Operand& operand) {
  const auto transposed =
      std::ranges::find(box.transposed, operand.tensor, &plan::Transposed::tensor);
  return values_of_walk(box, transposed->walk);
}

ModesOfTile modes_of_tile(const Plan& plan, const plan::Box&) {
  ModesOfTile modes;
  for (std::size_t m = 0; m < plan.extents.size(); ++m) modes.push_back({m});
  return modes;
}

int vectors_ahead(const Plan&, const plan::Box& box, const Operand& operand) {
  const auto transposed =
      std::ranges::find(box.transposed, operand.tensor, &plan::Transposed::tensor);
  const plan::Walk& walk = transposed == box.transposed.end() ? box.direct : transposed->walk;
  return static_cast<int>(steps_of(box, walk));
}

std::int64_t shared_bytes(const Plan& plan, const plan::Box& box) {
  return plan::shared_bytes(plan, box);
}

}  // namespace tilejit::figures
