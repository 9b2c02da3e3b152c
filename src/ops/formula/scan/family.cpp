#include "scan/family.hpp"

#include "core/json_line.hpp"
#include "light/light.hpp"
#include "plan/launch_shape.hpp"
#include "scan/scan.hpp"

namespace tilejit::plan {

void write_scan(Direction direction, core::JsonLine& line) {
  const bool reverse = direction == Direction::backward;
  line.key("scan").open('{').key("reverse").raw(reverse ? "true" : "false").close('}');
}

void Scan::choose_launch(Plan& plan, const Tuning& tuning) {
  choose_scan_launch(plan, tuning, elements_within_budget(plan));
}

bool Scan::has_light(const Plan& plan) const {
  return suits_light(plan, *this);
}

void Scan::write_json(core::JsonLine& line) const {
  Rows::write_json(line);
  write_scan(direction, line);
}

}  // namespace tilejit::plan
