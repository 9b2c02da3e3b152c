#include "knobs/of_families.hpp"

namespace tilejit::knobs {

void add_knobs(const plan::StagedRows& staged, Knobs& knobs) {
  if (staged.direction) return knobs.add_unroll();  // not staged
  const int threads = staged.row_threads;
  knobs.add(&Tuning::row_threads, {threads / 2, threads * 2, threads * 4}, threads);
  knobs.add(&Tuning::register_vectors, {0}, staged.register_vectors);  // not staged
}

}  // namespace tilejit::knobs
