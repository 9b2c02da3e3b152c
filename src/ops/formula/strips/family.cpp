#include "strips/family.hpp"

#include "core/json_line.hpp"
#include "plan/plan.hpp"

namespace tilejit::plan {

std::int64_t Strips::unit_extent(const Plan&, std::size_t m) const noexcept {
  return reduces(m) ? 0 : m == 0 ? columns : 1;
}

void Strips::write_json(core::JsonLine& line) const {
  Rows::write_json(line);
  line.key("strips").open('{').member("columns", columns).member("held", held).close('}');
}

}  // namespace tilejit::plan
