#include "thread_value/thread_value.hpp"

#include <gtest/gtest.h>

#include <set>

#include "plan/plans.hpp"
#include "support/specs.hpp"
#include "tilejit/error.hpp"
#include "tilejit/layout_functions.hpp"

namespace tilejit::plan {
namespace {

constexpr const char* kRows = "(1000,999):(1024,1)";

Fused copy_with(const char* thr, const char* val, const char* x = kRows, const char* y = kRows) {
  Fused op = test::make_op(f16, {{"x", x}, {"y", y}}, "y = x");
  op.tuning.tv = {.thr = thr, .val = val};
  return op;
}

struct Case {
  const char *name, *thr, *val, *tile;
  int threads, run, vector;
  const char* extents;  // of the space, innermost first
};

constexpr Case kCases[] = {
    {"of CuTe's examples", "(4,64):(64,1)", "(16,8):(8,1)", "(64,512)", 256, 8, 8, "999 1000"},
    {"one value", "(2,32):(32,1)", "(1,1):(1,1)", "(2,32)", 64, 1, 1, "999 1000"},
    {"threads beside each other", "(4,32):(32,1)", "4:1", "(16,32)", 128, 4, 1, "1000 999"},
    {"values along both", "(4,32):(32,1)", "(2,2):(1,2)", "(8,64)", 128, 2, 1, "1000 999"},
    {"sixteen at most", "(1,32):(32,1)", "(1,64):(64,1)", "(1,2048)", 32, 16, 8, "999 1000"},
    {"no power of two", "(1,32):(32,1)", "(1,6):(6,1)", "(1,192)", 32, 2, 2, "999 1000"},
    {"one axis", "128:1", "8:1", "(1024)", 128, 8, 8, "999 1000"},
};

TEST(ThreadValuePlans, FollowTheLayouts) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    const Plan plan = plan_of(copy_with(c.thr, c.val));
    const auto& tv = std::get<ThreadValue>(plan.family);
    EXPECT_EQ(to_string(Layout(tv.tiler, tv.tiler).shape()), to_string(Layout(c.tile).shape()));
    EXPECT_EQ(plan.threads, c.threads);
    EXPECT_EQ(tv.run, c.run);
    EXPECT_EQ(plan.vector, c.vector);
    EXPECT_EQ(extents_of(plan), c.extents);
    EXPECT_EQ(size(mode(tv.layout, 1)).value() % (plan.vector * plan.unroll), 0);
  }
}

TEST(ThreadValuePlans, GiveEachElementOfATileToOneThread) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    const Plan plan = plan_of(copy_with(c.thr, c.val));
    const auto& tv = std::get<ThreadValue>(plan.family);
    EXPECT_TRUE(is_compact(tv.layout)) << to_string(tv.layout);
    EXPECT_EQ(size(tv.layout), product(tv.tiler));
    // A vector's values are neighbours along mode 0, and start at a multiple of its length.
    const Layout values = mode(tv.layout, 1);
    std::int64_t before = 1;  // elements of the tile's modes before mode 0 of the space
    for (std::size_t i = 0; tv.modes[i] != 0; ++i) {
      before *= product(mode(tv.tiler, i)).value();
    }
    for (std::int64_t v = 0; v < size(values).value(); ++v) {
      EXPECT_EQ(values(v), values(v - v % plan.vector) + v % plan.vector * before);
    }
  }
}

TEST(ThreadValuePlans, TakeVectorsAsFarAsOperandsAllow) {
  const auto vector_of = [](const char* x, const char* y) {
    return plan_of(copy_with("(4,32):(32,1)", "(4,8):(8,1)", x, y)).vector;
  };
  EXPECT_EQ(vector_of("(64,256):(256,1)", "(64,256):(256,1)"), 8);
  EXPECT_EQ(vector_of("(64,256):(256,1)", "(64,256):(1,64)"), 8) << "y an access an element";
  EXPECT_EQ(vector_of("(64,256):(1,64)", "(64,256):(1,64)"), 1) << "nothing is contiguous there";
  EXPECT_EQ(vector_of("(64,250):(250,1)", "(64,250):(250,1)"), 2);
  EXPECT_EQ(vector_of("(64,251):(251,1)", "(64,251):(251,1)"), 1);
}

TEST(ThreadValuePlans, RefuseWhatIsNone) {
  struct Refusal {
    const char *name, *thr, *val, *where;
    ErrorCode code;
  };
  constexpr ErrorCode kSpec = ErrorCode::invalid_spec, kLayout = ErrorCode::invalid_layout;
  constexpr Refusal kRefusals[] = {
      {"threads that share an element", "(4,32):(32,0)", "(2,8):(8,1)", "/tv", kLayout},
      {"values that share an element", "(4,32):(32,1)", "(2,8):(1,1)", "/tv", kLayout},
      {"gaps", "(4,32):(64,1)", "(2,8):(8,1)", "/tv", kLayout},
      {"no multiple of a warp", "(4,10):(10,1)", "(2,8):(8,1)", "/tv/thr", kSpec},
      {"too many threads", "(64,32):(32,1)", "(2,8):(8,1)", "/tv/thr", kSpec},
      {"no threads", "(0,32):(32,1)", "(2,8):(8,1)", "/tv/thr", kSpec},
      {"threads not known", "(M,32):(32,1)", "(2,8):(8,1)", "/tv/thr", kSpec},
      {"more than can be counted", "(4294967296,4294967296):(1,4294967296)", "1:0", "/tv/thr",
       kSpec},
      {"too many values", "(4,32):(32,1)", "(64,32):(32,1)", "/tv/val", kSpec},
      {"more modes than axes", "(2,2,8):(16,8,1)", "(1,1,8):(8,8,1)", "/tv", kSpec},
  };
  for (const Refusal& refusal : kRefusals) {
    SCOPED_TRACE(refusal.name);
    try {
      (void)plan_of(copy_with(refusal.thr, refusal.val));
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), refusal.code) << error.what();
      EXPECT_EQ(error.where(), refusal.where) << error.what();
    }
  }
}

TEST(ThreadValuePlans, RefuseReductionsAndOtherKnobs) {
  const auto where_of = [](const Fused& op) -> std::string {
    try {
      (void)plan_of(op);
      return "accepted";
    } catch (const Error& error) {
      return error.where();
    }
  };
  Fused op = copy_with("(4,32):(32,1)", "(4,8):(8,1)");
  op.formula = "y = x - max(x)";
  EXPECT_EQ(where_of(op), "/tv");
  op.formula = "y = x";
  op.tuning.threads = 128;
  EXPECT_EQ(where_of(op), "/tuning");
  op.tuning.threads.reset();
  op.tuning.vector = 16;
  EXPECT_EQ(where_of(op), "/tuning/vector");
  op.tuning.vector = 4;
  EXPECT_EQ(where_of(op), "accepted");
  op.tuning.unroll = 3;
  EXPECT_EQ(where_of(op), "/tuning/unroll");
  op.tuning.unroll = 8;
  EXPECT_EQ(plan_of(op).unroll, 8);
}

}  // namespace
}  // namespace tilejit::plan
