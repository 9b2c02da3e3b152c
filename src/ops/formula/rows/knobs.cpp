#include "knobs/of_families.hpp"

namespace tilejit::knobs {

void add_knobs(const plan::Rows& rows, Knobs& knobs) {
  if (rows.register_vectors == 0) knobs.add_unroll();
  const int threads = rows.row_threads, splits = rows.splits;
  knobs.add(&Tuning::row_threads, {threads / 4, threads / 2, threads * 2, threads * 4}, threads);
  knobs.add(&Tuning::cluster, {1, 2, 4, 8}, rows.cluster);
  knobs.add(&Tuning::splits, {1, splits / 2, splits * 2, splits * 4}, splits);
  if (rows.register_vectors > 0) knobs.add(&Tuning::register_vectors, {0}, rows.register_vectors);
  if (splits > 1 && !knobs.pinned().atomics) knobs.add({{.atomics = !rows.atomics}});
}

}  // namespace tilejit::knobs
