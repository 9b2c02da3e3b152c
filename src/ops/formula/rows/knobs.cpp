#include "knobs/of_families.hpp"

namespace tilejit::knobs {

void add_knobs(const plan::Rows& rows, Knobs& knobs) {
  if (rows.held == 0) knobs.add_unroll();
  const int lanes = rows.lanes, shares = rows.shares;
  knobs.add(&Tuning::lanes, {lanes / 4, lanes / 2, lanes * 2, lanes * 4}, lanes);
  knobs.add(&Tuning::cluster, {1, 2, 4, 8}, rows.cluster);
  knobs.add(&Tuning::shares, {1, shares / 2, shares * 2, shares * 4}, shares);
  if (rows.held > 0) knobs.add(&Tuning::held, {0}, rows.held);
  if (shares > 1 && !knobs.pinned().atomics) knobs.add({{.atomics = !rows.atomics}});
}

}  // namespace tilejit::knobs
