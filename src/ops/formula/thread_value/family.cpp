#include "thread_value/family.hpp"

#include "core/json_line.hpp"
#include "plan/launch_shape.hpp"
#include "thread_value/thread_value.hpp"

namespace tilejit::plan {

void ThreadValue::choose_launch(Plan& plan, const Tuning& tuning) {
  plan.threads = static_cast<int>(size(mode(layout, 0)).value());
  plan.unroll = vectors_at_once(*this, plan.vector, tuning.unroll, vectors_in_flight(plan));
}

std::int64_t ThreadValue::unit_extent(const Plan&, std::size_t m) const noexcept {
  return tile_extent(*this, m);
}

std::int64_t ThreadValue::units_per_block(const Plan&) const noexcept {
  return 1;
}

std::vector<Dim> ThreadValue::compared_extents(const Plan& plan) const {
  std::vector<Dim> extents;
  if (plan.ragged) extents.push_back(plan.extents.front());
  extents.insert(extents.end(), plan.extents.begin(), plan.extents.end());
  return extents;
}

bool ThreadValue::has_light(const Plan&) const {
  return false;
}

void ThreadValue::write_json(core::JsonLine& line) const {
  line.key("tv")
      .open('{')
      .member("tile", tilejit::to_string(tiler))
      .member("layout", tilejit::to_string(layout))
      .key("modes")
      .open('[');
  for (const std::size_t m : modes) line.raw(std::to_string(m));
  line.close(']').close('}');
}

}  // namespace tilejit::plan
