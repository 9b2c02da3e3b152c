// Pinned knobs of reductions: what they change, and what the template cannot do.
#include <gtest/gtest.h>

#include "plan/plans.hpp"
#include "support/specs.hpp"
#include "tilejit/error.hpp"

namespace tilejit::plan {
namespace {

Fused wide_softmax(const std::string& layout = "(8192,4096):(4096,1)") {
  return test::make_op(f16, {{"x", layout}, {"y", layout}}, "e = exp(x - max(x))\ny = e / sum(e)");
}

Fused sum_of_rows() {
  return test::make_op(f16, {{"x", "(8,65536):(65536,1)"}, {"y", "(8):(1)"}}, "y = sum(x)");
}

Fused logsumexp_of_rows() {
  return test::make_op(f16, {{"x", "(8,65536):(65536,1)"}, {"y", "(8):(1)"}},
                       "y = log(sum(exp(x - max(x)))) + max(x)");
}

Fused sum_of_columns() {
  Fused op = test::make_op(f16, {{"x", "(8192,512):(512,1)"}, {"y", "(512):(1)"}}, "y = sum(x)");
  op.axis = {0};
  return op;
}

Plan pinned(Fused op, const Tuning& tuning, const Target& target = kHopper) {
  op.tuning = tuning;
  return plan_of(op, target);
}

TEST(RowTuning, ChangesWhatIsPinnedAndWhatFollows) {
  struct Case {
    const char* what;
    Fused op;
    Tuning tuning;
    int threads;
    Rows rows;  // first and count do not matter
  };
  const Case cases[] = {
      {"as planned", wide_softmax(), {}, 256, {.row_threads = 256, .register_vectors = 2}},
      {"more threads",
       wide_softmax(),
       {.row_threads = 512},
       512,
       {.row_threads = 512, .register_vectors = 1}},
      {"fewer threads",
       wide_softmax(),
       {.row_threads = 64},
       256,
       {.row_threads = 64, .register_vectors = 8}},
      {"too few threads to hold",
       wide_softmax(),
       {.row_threads = 8},
       256,
       {.row_threads = 8, .register_vectors = 0}},
      {"more threads",
       wide_softmax(),
       {.threads = 512},
       512,
       {.row_threads = 256, .register_vectors = 2}},
      {"read again",
       wide_softmax(),
       {.register_vectors = 0},
       256,
       {.row_threads = 256, .register_vectors = 0}},
      {"a cluster",
       wide_softmax(),
       {.cluster = 2},
       256,
       {.row_threads = 256, .cluster = 2, .register_vectors = 1, .ahead = true}},
      {"a cluster of few threads",
       wide_softmax(),
       {.row_threads = 32, .cluster = 4},
       32,
       {.row_threads = 32, .cluster = 4, .register_vectors = 4, .ahead = true}},
      {"a cluster that reads again",
       wide_softmax(),
       {.cluster = 2, .register_vectors = 0},
       256,
       {.row_threads = 256, .cluster = 2}},
      {"a cluster that holds more than there is",
       wide_softmax(),
       {.cluster = 2, .register_vectors = 3},
       256,
       {.row_threads = 256, .cluster = 2, .register_vectors = 3}},
      {"splits", sum_of_rows(), {.splits = 32}, 512, {.row_threads = 512, .splits = 32}},
      {"shares that are not held",
       sum_of_rows(),
       {.splits = 5},
       512,
       {.row_threads = 512, .splits = 5}},
      {"shares of exponentials",
       logsumexp_of_rows(),
       {.splits = 32},
       512,
       {.row_threads = 512, .splits = 32}},
      {"no shares", sum_of_rows(), {.splits = 1}, 512, {.row_threads = 512, .cluster = 8}},
      {"another cluster", sum_of_rows(), {.cluster = 4}, 512, {.row_threads = 512, .cluster = 4}},
      {"columns", sum_of_columns(), {.row_threads = 16}, 512, {.row_threads = 16, .cluster = 8}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const Plan plan = pinned(c.op, c.tuning);
    ASSERT_TRUE(rows_of(plan) != nullptr);
    EXPECT_EQ(plan.threads, c.threads);
    EXPECT_EQ(rows_of(plan)->row_threads, c.rows.row_threads);
    EXPECT_EQ(rows_of(plan)->cluster, c.rows.cluster);
    EXPECT_EQ(rows_of(plan)->register_vectors, c.rows.register_vectors);
    EXPECT_EQ(rows_of(plan)->ahead, c.rows.ahead);
    if (c.tuning != Tuning{}) {
      EXPECT_EQ(rows_of(plan)->splits, c.rows.splits);
    }
  }
}

TEST(RowTuning, AtomicsCountTheBlocksThatShareRows) {
  const Plan two = pinned(sum_of_rows(), {.splits = 5});
  const Plan one = pinned(sum_of_rows(), {.splits = 5, .atomics = true});
  EXPECT_FALSE(rows_of(two)->atomics);
  EXPECT_TRUE(rows_of(one)->atomics);
  ASSERT_EQ(launch_plan(two).steps.size(), 2u);
  EXPECT_EQ(launch_plan(two).steps[1].entry, two.kernel_name + "_combine");
  EXPECT_EQ(launch_plan(one).steps.size(), 1u);
  EXPECT_EQ(counters_bytes(two), 0);
  EXPECT_EQ(counters_bytes(one), 32);  // 8 counters of 4 bytes
  EXPECT_EQ(partials_bytes(one), partials_bytes(two) + 32);
  EXPECT_TRUE(rows_of(pinned(sum_of_columns(), {.atomics = true}, kAmpere))->atomics);
  // No rows are shared through memory here.
  EXPECT_EQ(pinned(wide_softmax(), {.atomics = true}), pinned(wide_softmax(), {}));
  EXPECT_EQ(pinned(sum_of_rows(), {.splits = 5, .atomics = false}), two);
}

TEST(RowTuning, RefusesWhatTheTemplateCannotDo) {
  struct Case {
    const char* what;
    Fused op;
    Tuning tuning;
    Target target;
    const char* where;
  };
  const Case cases[] = {
      {"threads in no groups", wide_softmax(), {.threads = 64}, kHopper, "/tuning/threads"},
      {"clusters before Hopper", wide_softmax(), {.cluster = 2}, kAmpere, "/tuning/cluster"},
      {"two rows a cluster",
       wide_softmax(),
       {.threads = 512, .cluster = 2},
       kHopper,
       "/tuning/cluster"},
      {"shares of two passes", wide_softmax(), {.splits = 2}, kHopper, "/tuning/splits"},
      {"shares of unknown rows",
       test::make_op(f16, {{"x", "(M,N):(N,1)"}, {"y", "(M):(1)"}}, "y = sum(x)"),
       {.splits = 2},
       kHopper,
       "/tuning/splits"},
      {"shares and a cluster",
       sum_of_rows(),
       {.cluster = 2, .splits = 2},
       kHopper,
       "/tuning/splits"},
      {"less held than there is",
       wide_softmax(),
       {.register_vectors = 1},
       kHopper,
       "/tuning/register_vectors"},
      {"more held than registers",
       wide_softmax(),
       {.row_threads = 8, .register_vectors = 64},
       kHopper,
       "/tuning/register_vectors"},
      {"less held than a share has",
       sum_of_rows(),
       {.splits = 8, .register_vectors = 1},
       kHopper,
       "/tuning/register_vectors"},
      {"shares that would take two passes if held",
       logsumexp_of_rows(),
       {.splits = 32, .register_vectors = 2},
       kHopper,
       "/tuning/register_vectors"},
      {"fewer held of a column than there are",
       sum_of_columns(),
       {.register_vectors = 2},
       kHopper,
       "/tuning/register_vectors"},
      {"held of unknown length",
       wide_softmax("(M,N):(N,1)"),
       {.register_vectors = 8},
       kHopper,
       "/tuning/register_vectors"},
      {"accumulators beyond shared memory",
       test::make_op(f16, {{"x", "(4096,512):(512,1)"}, {"y", "(512):(1)"}, {"z", "(512):(1)"}},
                     "y = sum(x, axis=0)\nz = max(x, axis=0)"),
       {.threads = 1024, .row_threads = 32},
       kHopper,
       "/tuning/threads"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    try {
      const Plan plan = pinned(c.op, c.tuning, c.target);
      ADD_FAILURE() << to_json(plan);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_spec);
      EXPECT_EQ(error.where(), c.where) << error.what();
    }
  }
}

}  // namespace
}  // namespace tilejit::plan
