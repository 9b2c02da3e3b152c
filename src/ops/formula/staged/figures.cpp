#include "figures/of_families.hpp"

namespace tilejit::figures {

using plan::Plan;

Sentences why(const Plan&, const plan::StagedRows& staged) {
  const std::string combines = staged.direction ? "scans" : "reduces";
  if (staged.side > 0) {
    return {
        "the formula scans columns that are odd and long, so blocks copy strips of them to shared "
        "memory chunk by chunk, 16 bytes at a time, and a thread goes down each column."};
  }
  if (staged.stages > 0) {
    return {
        "the formula scans columns that are few or odd, and long, so a block copies all that lie "
        "side by side to shared memory chunk by chunk, 16 bytes at a time, and a thread goes down "
        "each."};
  }
  if (staged.columns > 1) {
    return {"the formula " + combines +
            " columns that are few or odd, so a block copies all that lie side by side to shared "
            "memory as one run, 16 bytes at a time, and its threads take them from there."};
  }
  return {
      "the formula " + combines +
      " rows that are short or odd, so a block copies many of them to shared memory as one run, "
      "16 bytes at a time, and its threads take them from there."};
}

ThreadValues values_of(const Plan& plan, const plan::StagedRows& staged) {
  const int steps = staged.register_vectors, groups = plan.threads / staged.row_threads;
  const Dim length = Dim(staged.row_threads) * plan.vector * steps;
  // Vectors of a thread are neighbours if they are scanned, else those of threads are.
  const bool scans = staged.direction.has_value();
  const Dim apart = scans ? plan.vector : staged.row_threads * plan.vector;
  const Dim next = scans ? plan.vector * steps : plan.vector;
  return {
      tuple_of({length, Dim(groups) * staged.turns}),
      make_layout({flat_layout({staged.row_threads, groups}, {next, length}),
                   flat_layout({plan.vector, steps, staged.turns}, {1, apart, length * groups})})};
}

std::int64_t shared_bytes(const Plan& plan, const plan::StagedRows& staged) {
  return plan::staged_bytes(plan, staged);
}

}  // namespace tilejit::figures
