#include "sheared/family.hpp"

#include <algorithm>

#include "plan/launch_shape.hpp"
#include "plan/plan.hpp"

namespace tilejit::plan {
namespace {

constexpr int kThreads = 256;  // of a block

}  // namespace

/// A thread has all its vectors in flight, if the budget has room for as many copies of the
/// formula.
void Sheared::choose_launch(Plan& plan, const Tuning&) {
  plan.threads = kThreads;
  plan.unroll = columns / plan.vector * rows / plan.threads;
  const std::int64_t most = 2 * elements_within_budget(plan) / plan.vector;
  copies = static_cast<int>(std::clamp<std::int64_t>(most, 1, plan.unroll));
}

}  // namespace tilejit::plan
