#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <limits>

#include "arithmetic/convert.hpp"
#include "arithmetic/format.hpp"
#include "reference/execute.hpp"
#include "reference/problem_builder.hpp"

namespace tilejit::reference {
namespace {

using expr::Op;
using testing::ElementsAre;

// y = a + b
ProblemBuilder sum(std::vector<std::int64_t> shape, std::vector<ModeLeaves> a,
                   std::vector<ModeLeaves> b, std::vector<ModeLeaves> y) {
  ProblemBuilder builder(std::move(shape));
  const int ta = builder.tensor("a", f32, std::move(a), 64);
  const int tb = builder.tensor("b", f32, std::move(b), 64);
  const int ty = builder.tensor("y", f32, std::move(y), 64);
  builder.store(ty, builder.node(Op::add, f32, {builder.load(ta), builder.load(tb)}));
  for (int i = 0; i < 64; ++i) {
    builder.set(ta, i, i);
    builder.set(tb, i, 100 * i);
    builder.set(ty, i, -1);
  }
  return builder;
}

TEST(Evaluate, BroadcastsModesWithoutLeaves) {
  ProblemBuilder builder = sum({2, 3}, {{{2, 3}}, {{3, 1}}}, {{}, {{3, 1}}}, {{{2, 3}}, {{3, 1}}});
  evaluate(builder.problem());
  EXPECT_THAT(builder.values(2, 7), ElementsAre(0, 101, 202, 3, 104, 205, -1));
}

TEST(Evaluate, FollowsTransposedStrides) {
  ProblemBuilder builder =
      sum({2, 3}, {{{2, 3}}, {{3, 1}}}, {{{2, 1}}, {{3, 2}}}, {{{2, 3}}, {{3, 1}}});
  evaluate(builder.problem());
  EXPECT_THAT(builder.values(2, 6), ElementsAre(0, 201, 402, 103, 304, 505));
}

TEST(Evaluate, ReadsNestedModesColexicographically) {
  // ((2,2)):((4,1)): coordinates 0 1 2 3 are offsets 0 4 1 5.
  ProblemBuilder builder = sum({4}, {{{2, 4}, {2, 1}}}, {{}}, {{{4, 1}}});
  evaluate(builder.problem());
  EXPECT_THAT(builder.values(2, 4), ElementsAre(0, 4, 1, 5));
}

TEST(Evaluate, LeavesGapsOfTheOutputAlone) {
  ProblemBuilder builder = sum({2, 2}, {{{2, 2}}, {{2, 1}}}, {{}, {}}, {{{2, 5}}, {{2, 2}}});
  evaluate(builder.problem());
  EXPECT_THAT(builder.values(2, 9), ElementsAre(0, -1, 1, -1, -1, 2, -1, 3, -1));
}

TEST(Evaluate, DoesNothingForAnEmptySpace) {
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  ProblemBuilder builder = sum({huge, huge, 0}, {{}, {}, {}}, {{}, {}, {}}, {{}, {}, {{0, 1}}});
  evaluate(builder.problem());
  EXPECT_EQ(builder.get(2, 0), -1);
}

TEST(Evaluate, ReadsBeforeItWritesInPlace) {
  ProblemBuilder builder({1000});
  const int x = builder.tensor("x", f32, {{{1000, 1}}}, 1000);
  for (int i = 0; i < 1000; ++i) builder.set(x, i, i - 500);
  const expr::NodeId loaded = builder.load(x);
  builder.store(x, builder.node(Op::relu, f32, {loaded}));
  evaluate(builder.problem());
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(builder.get(x, i), i < 500 ? 0 : i - 500);
}

TEST(Evaluate, PassesScalarsInTheTypeTheyComputeIn) {
  ProblemBuilder builder({1});
  const double one[] = {1};
  const int narrow = builder.vector("narrow", f32, one);
  const int wide = builder.vector("wide", f64, one);
  const int whole = builder.vector("whole", i64, one);
  builder.scalar(0.1);
  builder.scalar(0.1);
  builder.scalar(9007199254740993);
  builder.store(narrow, builder.load_scalar(f32, 0));
  builder.store(wide, builder.load_scalar(f64, 1));
  builder.store(whole, builder.load_scalar(i64, 2));
  evaluate(builder.problem());
  EXPECT_EQ(builder.get(narrow, 0), static_cast<double>(0.1f));
  EXPECT_EQ(builder.get(wide, 0), 0.1);
  EXPECT_EQ(load_integer(i64, builder.memory()[whole]), 9007199254740993);
}

TEST(Evaluate, RoundsNarrowTypesOnlyAtTheStore) {
  ProblemBuilder builder({1});
  const double a[] = {2048}, b[] = {1}, zero[] = {0};
  const int ta = builder.vector("a", f16, a), tb = builder.vector("b", f16, b);
  const int ty = builder.vector("y", f16, zero);
  // (2048 + 1) - 2048 is 1 in f32; 2049 is no f16.
  const expr::NodeId total = builder.node(Op::add, f16, {builder.load(ta), builder.load(tb)});
  builder.store(ty, builder.node(Op::sub, f16, {total, builder.load(ta)}));
  evaluate(builder.problem());
  EXPECT_EQ(builder.get(ty, 0), 1);
}

TEST(Evaluate, OverflowsWhereF32Does) {
  ProblemBuilder builder({1});
  const double big[] = {1e30}, zero[] = {0};
  const int x = builder.vector("x", f32, big);
  const int y = builder.vector("y", f32, zero);
  const expr::NodeId square = builder.node(Op::mul, f32, {builder.load(x), builder.load(x)});
  builder.store(y, builder.node(Op::div, f32, {square, builder.load(x)}));
  evaluate(builder.problem());
  EXPECT_EQ(builder.get(y, 0), kInfinity);
}

TEST(Evaluate, SelectsComparesAndCasts) {
  ProblemBuilder builder({4});
  const double x[] = {-1.5, 0, 300.75, kNan}, zero[] = {0, 0, 0, 0};
  const int tx = builder.vector("x", f32, x);
  const int ti = builder.vector("i", i8, zero), tb = builder.vector("b", b8, zero);
  const int ty = builder.vector("y", f32, zero);
  const expr::NodeId loaded = builder.load(tx);
  const expr::NodeId limit = builder.constant(f32, 0.5);
  const expr::NodeId above = builder.node(Op::gt, b8, {loaded, limit});
  builder.store(ti, builder.node(Op::cast, i8, {loaded}));
  builder.store(tb, above);
  builder.store(ty, builder.node(Op::where, f32, {above, loaded, limit}));
  evaluate(builder.problem());
  EXPECT_THAT(builder.values(ti, 4), ElementsAre(-1, 0, 44, 0));
  EXPECT_THAT(builder.values(tb, 4), ElementsAre(0, 0, 1, 0));
  EXPECT_THAT(builder.values(ty, 4), ElementsAre(0.5, 0.5, 300.75, 0.5));
}

TEST(Evaluate, KeepsAllBitsOfU64) {
  ProblemBuilder builder({1});
  const int x = builder.tensor("x", u64, {{{1, 1}}}, 1);
  const int y = builder.tensor("y", u64, {{{1, 1}}}, 1);
  const std::uint64_t value = 0xfedcba9876543211;
  std::memcpy(builder.problem().tensors[x].data, &value, sizeof value);
  builder.store(y, builder.node(Op::bit_xor, u64, {builder.load(x), builder.constant(u64, 1)}));
  evaluate(builder.problem());
  std::uint64_t got = 0;
  std::memcpy(&got, builder.problem().tensors[y].data, sizeof got);
  EXPECT_EQ(got, value ^ 1);
}

TEST(Split, CoversTheSpaceInOrder) {
  for (const std::int64_t total :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{1} << 16, (std::int64_t{1} << 20) + 7}) {
    const std::vector<Range> ranges = split(total);
    std::int64_t next = 0;
    for (const Range& range : ranges) {
      EXPECT_EQ(range.first, next);
      EXPECT_TRUE(ranges.size() == 1 || range.last - range.first >= 1 << 16);
      next = range.last;
    }
    EXPECT_EQ(next, total);
  }
}

TEST(RunParallel, DoesEachPieceOnce) {
  std::vector<std::atomic<int>> done(9);
  run_parallel(done.size(), [&](std::size_t i) { ++done[i]; });
  for (const std::atomic<int>& count : done) EXPECT_EQ(count, 1);
  run_parallel(0, [](std::size_t) { ADD_FAILURE() << "nothing to do"; });
}

}  // namespace
}  // namespace tilejit::reference
