#include "box/family.hpp"

#include <algorithm>

#include "box/walks.hpp"
#include "core/integer.hpp"
#include "core/json_line.hpp"
#include "plan/plan.hpp"

namespace tilejit::plan {
namespace {

constexpr int kWarp = 32;

void write(core::JsonLine& line, const Walk& walk) {
  line.key("modes").open('[');
  for (const std::size_t m : walk.modes) line.raw(std::to_string(m));
  line.close(']').key("threads").open('[');
  for (const std::int64_t threads : walk.threads) line.raw(std::to_string(threads));
  line.close(']');
  if (walk.vector != 1) line.key("vector").raw(std::to_string(walk.vector));
}

}  // namespace

Runs runs_of(const Box& box, const Transposed& transposed, int bytes) {
  Runs runs;
  for (const std::size_t m : transposed.walk.modes) {
    const bool within = std::ranges::count(transposed.run, m) != 0;
    (within ? runs.elements : runs.count) *= box.extents[m];
  }
  const std::int64_t elements = kChunkBytes / bytes;
  runs.chunks = (runs.elements + 2 * (elements - 1)) / elements;
  return runs;
}

std::int64_t threads_of(const Walk& walk) {
  std::int64_t active = 1;
  for (const std::int64_t threads : walk.threads) active *= threads;
  return active;
}

std::int64_t steps_along(const Box& box, const Walk& walk, std::size_t i) {
  const std::int64_t vector = i == 0 ? walk.vector : 1;
  return core::ceil_div(box.extents[walk.modes[i]] / vector, walk.threads[i]);
}

std::int64_t steps_of(const Box& box, const Walk& walk) {
  std::int64_t steps = 1;
  for (std::size_t i = 0; i < walk.modes.size(); ++i) steps *= steps_along(box, walk, i);
  return steps;
}

/// As many threads as the walk that takes most of them has.
void Box::choose_launch(Plan& plan, const Tuning&) {
  std::int64_t active = threads_of(direct);
  for (const Transposed& operand : transposed) {
    active = std::max(active, threads_of(operand.walk));
  }
  plan.threads = static_cast<int>(core::ceil_div(active, kWarp)) * kWarp;
  plan.unroll = 1;
}

std::int64_t Box::unit_extent(const Plan&, std::size_t m) const noexcept {
  return extents[m];
}

std::int64_t Box::units_per_block(const Plan&) const noexcept {
  return 1;
}

std::vector<Dim> Box::compared_extents(const Plan&) const {
  return {};  // all extents are known
}

bool Box::has_light(const Plan&) const {
  return true;
}

void Box::write_json(core::JsonLine& line) const {
  line.key("box").open('{').key("extents").open('[');
  for (const std::int64_t extent : extents) line.raw(std::to_string(extent));
  line.close(']').key("direct").open('{');
  write(line, direct);
  line.close('}').key("transposed").open('[');
  for (const Transposed& operand : transposed) {
    line.open('{').member("tensor", operand.tensor);
    write(line, operand.walk);
    line.key("pitch").open('[');
    for (const std::int64_t pitch : operand.pitch) line.raw(std::to_string(pitch));
    line.close(']').member("elements", operand.elements);
    if (!operand.run.empty()) {
      line.key("run").open('[');
      for (const std::size_t m : operand.run) line.raw(std::to_string(m));
      line.close(']');
    }
    line.close('}');
  }
  line.close(']');
  if (first != 0) line.member("first", static_cast<int>(first));
  line.close('}');
}

}  // namespace tilejit::plan
