#include "rows/family.hpp"

#include <algorithm>

#include "core/json_line.hpp"
#include "light/light.hpp"
#include "plan/launch_shape.hpp"
#include "rows/row_shape.hpp"
#include "rows/rows.hpp"
#include "rows/turned.hpp"
#include "rows/turned_inputs.hpp"

namespace tilejit::plan {

void Rows::choose_launch(Plan& plan, const Tuning& tuning) {
  const auto most = std::max<std::int64_t>(1, 2 * elements_within_budget(plan) / plan.vector);
  atomics = tuning.atomics.value_or(false);
  const RowShape shape = tune_row_shape(plan, choose_row_shape(plan, *this, most), tuning, most);
  *this = shape.rows;
  plan.threads = shape.threads;
  alike = alike_rows(plan, *this);
  plan.unroll =
      tuning.unroll.value_or(static_cast<int>(std::min<std::int64_t>(batch_of_rows(plan), most)));
  turned = turned_vectors(plan, *this);
  turned_inputs = turned_input_vectors(plan, *this);
}

std::int64_t Rows::unit_extent(const Plan& plan, std::size_t m) const noexcept {
  if (reduces(m)) return 0;
  if (alike > 1 && m == outermost_kept(plan, *this)) return alike;
  return m == 0 ? plan.vector : 1;
}

std::int64_t Rows::units_per_block(const Plan& plan) const noexcept {
  return plan.threads / row_threads;
}

std::vector<Dim> Rows::compared_extents(const Plan& plan) const {
  std::vector<Dim> extents;
  if (plan.ragged) extents.push_back(plan.extents.front());
  for (std::size_t m = 0; m < plan.extents.size(); ++m) {
    if (reduces(m)) extents.push_back(plan.extents[m]);
  }
  return extents;
}

bool Rows::has_light(const Plan& plan) const {
  return suits_light(plan, *this);
}

void Rows::write_json(core::JsonLine& line) const {
  line.key("rows")
      .open('{')
      .member("first", static_cast<int>(first))
      .member("count", static_cast<int>(count))
      .member("row_threads", row_threads)
      .member("cluster", cluster)
      .member("splits", splits)
      .member("register_vectors", register_vectors)
      .member("ahead", ahead);
  if (abreast) line.member("abreast", true);
  if (turned > 0) line.member("turned", turned);
  if (turned_inputs > 0) line.member("turned_inputs", turned_inputs);
  if (alike > 1) line.member("alike", alike);
  if (atomics) line.member("atomics", true);
  line.close('}');
}

}  // namespace tilejit::plan
