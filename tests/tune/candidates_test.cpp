#include <gtest/gtest.h>

#include <set>

#include "plan/plans.hpp"
#include "support/specs.hpp"
#include "tilejit/error.hpp"
#include "tilejit/tune.hpp"

namespace tilejit {
namespace {

using plan::kHopper;
using test::make_op;

std::vector<Fused> operations() {
  const std::string square = "(4096,4096):(4096,1)";
  return {
      make_op(f16, {{"a", square}, {"b", square}, {"y", square}}, "y = a + b"),
      make_op(f16, {{"x", "(4096,4096):(1,4096)"}, {"y", square}}, "y = x"),
      make_op(f16, {{"x", square}, {"y", square}}, "e = exp(x - max(x))\ny = e / sum(e)"),
      make_op(f16, {{"x", square}, {"y", "(4096):(1)"}}, "y = sum(x)"),
      make_op(f16, {{"x", "(M,N):(N,1)"}, {"y", "(M):(1)"}}, "y = sum(x)"),
  };
}

int pinned_knobs(const Tuning& t) {
  return t.threads.has_value() + t.vector.has_value() + t.unroll.has_value() + t.tile.has_value() +
         t.row_threads.has_value() + t.cluster.has_value() + t.splits.has_value() +
         t.register_vectors.has_value() + t.atomics.has_value();
}

TEST(Candidates, AreDifferentPlansWithinTheBudget) {
  for (Fused op : operations()) {
    const std::vector<Tuning> candidates = tuning_candidates(op, kHopper, 30);
    ASSERT_GT(candidates.size(), 10U);
    ASSERT_LE(candidates.size(), 31U);
    EXPECT_EQ(candidates.front(), Tuning{});
    std::set<std::string> plans;
    int before = 0;
    for (const Tuning& tuning : candidates) {
      op.tuning = tuning;
      EXPECT_TRUE(plans.insert(plan::to_json(plan::plan_of(op))).second) << to_json(op);
      EXPECT_GE(pinned_knobs(tuning), before) << "one change first, then two";
      before = pinned_knobs(tuning);
    }
  }
}

TEST(Candidates, KeepToTheBudgetAndAreTheSameEveryTime) {
  const Fused op = operations().front();
  EXPECT_EQ(tuning_candidates(op, kHopper, 0), std::vector<Tuning>{Tuning{}});
  const std::vector<Tuning> few = tuning_candidates(op, kHopper, 3);
  const std::vector<Tuning> more = tuning_candidates(op, kHopper, 9);
  ASSERT_EQ(few.size(), 4U);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), more.begin()));
  EXPECT_EQ(more, tuning_candidates(op, kHopper, 9));
}

TEST(Candidates, KeepWhatTheOperationPins) {
  Fused op = operations().front();
  op.tuning.threads = 128;
  for (const Tuning& tuning : tuning_candidates(op, kHopper, 50)) EXPECT_EQ(tuning.threads, 128);
}

TEST(Candidates, CoverEachKnobOfTheTemplate) {
  const auto covers = [](const Fused& op, auto knob) {
    for (const Tuning& tuning : tuning_candidates(op, kHopper, 24)) {
      if (tuning.*knob) return true;
    }
    return false;
  };
  const std::vector<Fused> ops = operations();
  EXPECT_TRUE(covers(ops[0], &Tuning::threads));
  EXPECT_TRUE(covers(ops[0], &Tuning::unroll));
  EXPECT_TRUE(covers(ops[0], &Tuning::vector));
  EXPECT_TRUE(covers(ops[1], &Tuning::tile));
  EXPECT_TRUE(covers(ops[2], &Tuning::row_threads));
  EXPECT_TRUE(covers(ops[2], &Tuning::cluster));
  EXPECT_TRUE(covers(ops[2], &Tuning::register_vectors));
  EXPECT_FALSE(covers(ops[2], &Tuning::atomics)) << "no blocks share rows through memory";
  const Fused everything = make_op(f32, {{"x", "(40000000):(1)"}, {"y", "1:0"}}, "y = sum(x)");
  EXPECT_TRUE(covers(everything, &Tuning::atomics));
}

// ---- trials, with the test's own clock

Trial trial(double milliseconds, std::string failure = {}) {
  return {.tuning = {}, .milliseconds = milliseconds, .failure = std::move(failure)};
}

TEST(Candidates, OfProductsByWarpgroupsAreTheNextTiles) {
  const Fused op = test::make_op(
      bf16, {{"a", "(3000,3000)"}, {"b", "(3000,3000)"}, {"d", "(3000,3000)"}}, "d = a @ b");
  const std::vector<Tuning> candidates = tuning_candidates(op, kHopper, 6);
  ASSERT_EQ(candidates.size(), 7U);
  std::size_t tiles = 0;
  for (const Tuning& tuning : candidates) tiles += tuning.tile && tuning.cluster;
  EXPECT_GE(tiles, 3U);
}

TEST(Trials, AreMeasuredInTurn) {
  const Fused op = operations().front();
  const std::vector<Tuning> candidates = tuning_candidates(op, kHopper, 4);
  std::vector<Tuning> told;
  const auto measure = [&](const Operation& pinned) -> double {
    EXPECT_EQ(pinned.fused()->formula, op.formula);
    if (pinned.tuning() == candidates[2]) throw Error(ErrorCode::compile_failed, "it does not fit");
    return pinned.tuning() == candidates[3] ? 0.5 : 1.0;
  };
  const auto trials =
      run_trials(op, candidates, measure, [&](const Trial& t) { told.push_back(t.tuning); });
  ASSERT_EQ(trials.size(), candidates.size());
  EXPECT_EQ(told, candidates);
  EXPECT_EQ(trials[2].failure, "it does not fit");
  EXPECT_EQ(best_trial(trials), 3U);
}

TEST(Trials, NeedThePlanItself) {
  const Fused op = operations().front();
  const auto fails = [](const Operation&) -> double {
    throw Error(ErrorCode::driver_call, "no such luck");
  };
  EXPECT_THROW((void)run_trials(op, {Tuning{}}, fails), Error);
  EXPECT_THROW((void)best_trial({}), Error);
}

TEST(Trials, TheBestGainsMoreThanNoise) {
  EXPECT_EQ(best_trial({trial(1.0), trial(0.995), trial(1.2)}), 0U);
  EXPECT_EQ(best_trial({trial(1.0), trial(0.98), trial(0.97)}), 2U);
  EXPECT_EQ(best_trial({trial(1.0), trial(0, "wrong result"), trial(0.9)}), 2U);
  EXPECT_EQ(best_trial({trial(1.0), trial(0, "wrong result")}), 0U);
}

}  // namespace
}  // namespace tilejit
