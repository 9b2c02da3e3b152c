// A process's requests: found again, and the one nearest to a miss.
#include "usage/index.hpp"

#include <gtest/gtest.h>

#include <string>

#include "usage/parts.hpp"

namespace tilejit::usage {
namespace {

const Target kTarget{.major = 8, .minor = 0, .feature = 0};

Fused softmax(int columns, DType dtype = f16, const std::string& name = "softmax") {
  const Layout layout("(M," + std::to_string(columns) + "):(" + std::to_string(columns) + ",1)");
  return {.name = name,
          .symbols = {{.name = "M", .divisible_by = 8}},
          .tensors = {{"x", dtype, layout}, {"y", dtype, layout}},
          .scalars = {{.name = "alpha", .dtype = f32}},
          .formula = "e = exp(alpha * (x - max(x))); y = e / sum(e)"};
}

TEST(Index, KnowsADescriptorAgainWhateverItsExamples) {
  Index index;
  const auto first = index.note(softmax(1024), kTarget, true);
  ASSERT_TRUE(first && first->is_new);
  Fused again = softmax(1024);
  again.symbols[0].example = 4096;
  again.scalars[0].example = 0.5;
  EXPECT_FALSE(index.note(again, kTarget, true)->is_new);
  EXPECT_EQ(index.served(again, kTarget), first->number);
  EXPECT_EQ(index.at(first->number).uses, 2u);
  EXPECT_EQ(index.size(), 1u);
}

TEST(Index, TellsEveryPartApart) {
  const Fused base = softmax(1024);
  std::vector<Fused> others(12, base);
  others[0].name = "other";
  others[1].symbols[0].divisible_by = 16;
  others[2].tensors[0].dtype = bf16;
  others[3].tensors[1].layout = "(M,1024):(2048,1)";
  others[4].tensors[0].align = 8;
  others[5].tensors[1].access = Access::out;
  others[6].scalars[0].dtype = f64;
  others[7].functions = {{.name = "f", .args = {"v"}, .expr = "v"}};
  others[8].formula += ' ';
  others[9].axis = {-1};
  others[10].tuning.threads = 128;
  others[11].tensors.pop_back();
  Index index;
  (void)index.note(base, kTarget, true);
  for (std::size_t i = 0; i < others.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_FALSE(same_operation(base, others[i]));
    EXPECT_FALSE(index.served(others[i], kTarget));
  }
  EXPECT_FALSE(index.served(base, Target{}));
}

TEST(Index, DoesNotServeWhatWasOnlyAskedFor) {
  Index index;
  (void)index.note(softmax(1024), kTarget, false);
  EXPECT_FALSE(index.served(softmax(1024), kTarget));
  EXPECT_FALSE(index.nearest(softmax(2048), kTarget));
  (void)index.note(softmax(1024), kTarget, true);
  EXPECT_TRUE(index.served(softmax(1024), kTarget));
  EXPECT_TRUE(index.nearest(softmax(2048), kTarget));
}

TEST(Index, NamesTheNearestAndWhatDiffers) {
  Index index;
  for (const int columns : {512, 1024, 4096}) (void)index.note(softmax(columns), kTarget, true);
  Fused wide = softmax(8192);
  wide.tensors[1].layout = softmax(4096).tensors[1].layout;  // one field less to differ
  (void)index.note(softmax(64, f32, "other"), Target{}, true);

  const auto shape = index.nearest(wide, kTarget);
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->name, "softmax");
  EXPECT_EQ(shape->field, "/tensors/x/layout");
  EXPECT_EQ(shape->wanted, "(M,8192):(8192,1)");
  EXPECT_EQ(shape->present, "(M,4096):(4096,1)");
  EXPECT_EQ(shape->more, 0u);

  const auto dtype = index.nearest(softmax(1024, bf16), kTarget);
  EXPECT_EQ(dtype->field, "/tensors/x/dtype");
  EXPECT_EQ(dtype->wanted, "bf16");
  EXPECT_EQ(dtype->present, "f16");
  EXPECT_EQ(dtype->more, 1u);

  const auto target = index.nearest(softmax(1024), Target{});
  EXPECT_EQ(target->field, "target");
  EXPECT_EQ(target->wanted, "sm_90a");
  EXPECT_EQ(target->present, "sm_80");

  const auto name = index.nearest(softmax(64, f32, "renamed"), Target{});
  EXPECT_EQ(name->field, "/name");
  EXPECT_EQ(name->present, "other");

  Fused knobs = softmax(512);
  knobs.tuning.threads = 64;
  EXPECT_EQ(index.nearest(knobs, kTarget)->wanted, "threads=64");
}

TEST(Index, NamesSomethingEvenWhereNothingIsAlike) {
  Index index;
  EXPECT_FALSE(index.nearest(softmax(1), kTarget));
  (void)index.note(softmax(1024), kTarget, true);
  const Fused other{.name = "fill", .tensors = {{"y", f32, "64:1"}}, .formula = "y = 1"};
  const auto nearest = index.nearest(other, Target{});
  ASSERT_TRUE(nearest);
  EXPECT_EQ(nearest->field, "/tensors");
}

TEST(Index, ListsWhatHasTheSameFormula) {
  Index index;
  (void)index.note(softmax(1024), kTarget, true);
  (void)index.note(softmax(2048, bf16, "b"), kTarget, true);
  Fused other = softmax(4096);
  other.formula += " + 0";
  (void)index.note(other, kTarget, true);
  EXPECT_EQ(index.alike(softmax(1), kTarget), (std::vector<std::size_t>{1, 0}));
}

TEST(MissError, SaysWhatIsMissingAndWhatIsNear) {
  const MissError error("softmax", kTarget, "the runtime is sealed",
                        NearestKernel{.name = "softmax",
                                      .target = kTarget,
                                      .field = "/tensors/x/dtype",
                                      .wanted = "bf16",
                                      .present = "f16",
                                      .more = 1});
  EXPECT_EQ(error.code(), ErrorCode::missing);
  EXPECT_STREQ(error.what(),
               "there is no kernel 'softmax' for sm_80, and the runtime is sealed; the nearest, "
               "'softmax' for sm_80, differs in /tensors/x/dtype: f16, not bf16, and 1 more; warm "
               "it ahead (tilejit warm)");
}

}  // namespace
}  // namespace tilejit::usage
