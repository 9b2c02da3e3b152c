#include "light/family.hpp"

#include "light/light.hpp"

namespace tilejit::plan {

void Light::choose_launch(Plan& plan, const Tuning&) {
  choose_light_launch(plan);
}

bool Light::has_light(const Plan&) const {
  return false;
}

void Light::write_json(core::JsonLine& line) const {
  Rows::write_json(line);
  if (direction) write_scan(*direction, line);
}

}  // namespace tilejit::plan
