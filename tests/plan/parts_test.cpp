// Operations that take several kernels: where they are split, and what lies between.
#include "plan/parts.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "plan/plans.hpp"
#include "plan/split.hpp"
#include "support/specs.hpp"
#include "tilejit/error.hpp"

namespace tilejit::plan {
namespace {

constexpr const char* kMatrix = "(64,128):(128,1)";

/// "rows x -> rows v0; map x v0 -> y": the template of each part, and what it reads and writes.
std::string text_of(const Fused& op) {
  const Plan plan = plan_of(op);
  std::string text;
  for (const Plan& part : parts_of(plan)) {
    text += (text.empty() ? "" : "; ") + std::string(template_name(part).substr(6));
    const auto name_of = [&](const Operand& operand) {
      const auto number =
          static_cast<std::size_t>(part.tensors[static_cast<std::size_t>(operand.tensor)]);
      return number < op.tensors.size() ? " " + op.tensors[number].name
                                        : " #" + std::to_string(number - op.tensors.size());
    };
    for (const Operand& operand : part.operands) {
      if (operand.read) text += name_of(operand);
    }
    text += " ->";
    for (const Operand& operand : part.operands) {
      if (operand.written) text += name_of(operand);
    }
  }
  return text;
}

// 1002/104 of the sweep: lanes that ask for a line of the weight each took 123 us.
TEST(Parts, WeightsInAnotherOrderThanRowsAreCopiedFirst) {
  const auto parts_with = [](const char* w) {
    return text_of(test::make_op(f32,
                                 {{"x", "(128,64,24,136):(1,128,1114112,8192)"},
                                  {"w", w},
                                  {"y", "(128,64,24,1):(1536,24,1,1)"}},
                                 "y = log(sum(exp(x + w), axis=3))"));
  };
  EXPECT_EQ(parts_with("(128,1,1,136):(136,0,0,1)"), "tile w -> #0; rows x #0 -> y");
  EXPECT_EQ(parts_with("(128,1,1,136):(1,0,0,128)"), "") << "one kernel";
  EXPECT_EQ(parts_with("(128,64,1,136):(8704,136,0,1)"), "tile w -> #0; rows x #0 -> y");
  EXPECT_EQ(parts_with("(128,64,24,136):(208896,3264,136,1)"), "")
      << "a copy of what does not repeat would take as long as the rows";
}

// Lanes that store a sector each: 1504/208 of the sweep took 284 us, 1501/148 94.
TEST(Parts, TransposeCrossedResultsOfAFewElementsAsSlices) {
  const auto parts_of_sum = [](DType dtype, const char* x, const char* y, const char* formula) {
    return text_of(test::make_op(dtype, {{"x", x}, {"y", y}}, formula));
  };
  const char* const kSum = "y = sum(x, axis=2)";
  EXPECT_EQ(parts_of_sum(bf16, "(307,43939,3):(2,614,26978546)", "(307,43939):(43939,1)", kSum),
            "box x x x -> y");
  EXPECT_EQ(parts_of_sum(f16, "(28,10000,2,64):(1,28,280000,560000)", "(28,10000,64):(640000,64,1)",
                         kSum),
            "tile x x -> y");
  EXPECT_EQ(parts_of_sum(f16, "(8192,1024,2):(2,16384,1)", "(8192,1024):(1024,1)", kSum),
            "box x x -> y")
      << "rows of neighbours";
  EXPECT_EQ(parts_of_sum(bf16, "(307,43939,3):(2,614,26978546)", "(307,43939):(1,307)", kSum), "")
      << "results in the order of x";
  EXPECT_EQ(parts_of_sum(f32, "(512,4096,8):(1,512,2097152)", "(512,4096):(4096,1)", kSum), "")
      << "lanes store whole sectors, and few";
  EXPECT_EQ(parts_of_sum(bf16, "(7,439,3):(2,14,6146)", "(7,439):(439,1)", kSum), "") << "small";
}

// 1803/63 of the sweep: two kernels, with a sector for each result between them, took 420 us.
TEST(Parts, TransposeCrossedOutputsOfAFewElementsAsSlices) {
  const auto parts_of_softmax = [](DType dtype, const char* x, const char* y) {
    return text_of(test::make_op(dtype, {{"x", x}, {"y", y}},
                                 "e = exp(x - max(x, axis=1)); y = e / sum(e, axis=1)"));
  };
  EXPECT_EQ(parts_of_softmax(f16, "(2494,2,2047):(1,2494,4988)", "(2494,2,2047):(4094,2047,1)"),
            "box x x -> y y");
  EXPECT_EQ(parts_of_softmax(f32, "(1870,3,513):(1,959310,1870)", "(1870,3,513):(1539,513,1)"),
            "box x x x -> y y y");
  EXPECT_EQ(parts_of_softmax(f16, "(2494,2,2047):(1,2494,4988)", "(2494,2,2047):(1,2494,4988)"), "")
      << "outputs in the order of x";
  EXPECT_EQ(parts_of_softmax(f16, "(2494,2,17):(1,2494,4988)", "(2494,2,17):(34,17,1)"), "")
      << "small";
}

TEST(Parts, CopyCrossedResultsOfMoreElements) {
  const auto parts_of_row = [](DType dtype, const char* x, const char* y, const char* formula) {
    return text_of(test::make_op(dtype, {{"x", x}, {"y", y}}, formula));
  };
  EXPECT_EQ(
      parts_of_row(f16, "(9,256,5000):(1,9,2304)", "(256,5000):(5000,1)", "y = sum(x, axis=0)"),
      "staged x -> #0; tile #0 -> y");
  EXPECT_EQ(parts_of_row(f16, "(2,4096,5000):(1,2,8192)", "(4096,5000):(5000,1)",
                         "y = argmax(x, axis=0)"),
            "staged x -> #0; tile #0 -> y")
      << "places have no chain";
  EXPECT_EQ(
      parts_of_row(f16, "(9,256,5000):(1,9,2304)", "(256,5000):(1,256)", "y = sum(x, axis=0)"), "");
  EXPECT_EQ(parts_of_row(f16, "(256,256,5000):(1,256,65536)", "(256,5000):(5000,1)",
                         "y = sum(x, axis=0)"),
            "")
      << "results are few";
}

/// Norms of the rows of x with weights, in f32.
Fused layernorm(const std::string& rows, const std::string& length) {
  const std::string layout = "(" + rows + "," + length + "):(" + length + ",1)";
  Fused op =
      test::make_op(f32, {{"x", layout}, {"w", length + ":1"}, {"b", length + ":1"}, {"y", layout}},
                    "y = (x - mean(x)) * rsqrt(var(x) + 1e-5) * w + b");
  op.axis = {1};
  return op;
}

// 1307/19 of the sweep: the few blocks of two clusters also read weights and write, 14.1 us.
TEST(Parts, OfFewLongRowsAreCutForAllThatTheirBlocksGoThrough) {
  EXPECT_EQ(text_of(layernorm("2", "223208")), "rows x -> #0 #1; map x #0 #1 w b -> y");
  EXPECT_EQ(text_of(layernorm("2", "40000")), "") << "held by clusters";
}

// 2404/107 and 6061/353 of the sweep: 73 and 367 us by loops, 43.5 and 197 by two kernels.
TEST(Parts, OfManyLongRowsAreCutSinceLoopsMoveLessThanTheMemoryWould) {
  EXPECT_EQ(text_of(layernorm("128", "223208")), "rows x -> #0 #1; map x #0 #1 w b -> y");
  EXPECT_EQ(text_of(layernorm("128", "40000")), "") << "held by clusters";
}

// 2404/51 of the sweep: the kernel that reduces followed the mask, which the formula names first,
// and read a sector for each element of x: 114 us, then 50.5. 1802/4, x along rows, took 2.4 times
// as long in the order of x.
TEST(Parts, ThatReduceFollowTheWidestInputThatLiesAcrossRows) {
  const auto follows_x = [](const std::string& x, const std::string& mask) {
    Fused op = test::make_op(f16, {{"x", x}, {"y", mask}},
                             "v = where(m, x, -30); e = exp(v - max(v)); y = e / sum(e)");
    op.tensors.push_back({"m", b8, mask});
    op.axis = {1};
    const Plan plan = plan_of(op);
    const Plan& reduces = parts_of(plan).front();
    return std::ranges::any_of(reduces.operands, [](const Operand& operand) {
      return operand.dtype == f16 && operand.reach == Reach::contiguous;
    });
  };
  EXPECT_TRUE(follows_x("(1791,6573):(1,1791)", "(1791,6573):(6573,1)"));
  EXPECT_FALSE(follows_x("(33,535096):(535096,1)", "(33,535096):(1,33)"));
}

/// The mean of the logsumexp over `classes`, as a loss has it.
Fused loss(const std::string& rows, const std::string& classes, const char* formula) {
  const std::string layout = "(" + rows + ",2," + classes + "):(" +
                             std::to_string(2 * std::stoi(classes)) + "," + classes + ",1)";
  return test::make_op(f32, {{"x", layout}, {"y", "1:0"}}, formula);
}

// 1502/216 of the sweep: 146 us when distances of 17 million rows went to memory for their mean.
TEST(Parts, LeaveAnElementPerBlockOfResultsThatAreOnlyReduced) {
  const auto elements_between = [](const std::string& rows, const char* formula,
                                   const char* output = "1:0") {
    const std::string layout = "(" + rows + ",64,4):(256,4,1)";
    const Plan plan =
        plan_of(test::make_op(f16, {{"x", layout}, {"z", layout}, {"y", output}}, formula));
    return std::get<Several>(plan.family).temporaries.at(0).elements.value();
  };
  const char* const kDistance = "y = mean(sqrt(sum((x - z) * (x - z), axis=2)), axis=(0, 1))";
  EXPECT_EQ(elements_between("4000", kDistance), 2000) << "blocks of 128 rows";
  EXPECT_EQ(elements_between("4000", "y = max(sum(x * z, axis=2), axis=(0, 1))"), 2000);
  EXPECT_EQ(elements_between("200", kDistance), 12800) << "few rows";
  EXPECT_EQ(elements_between("4000", "y = mean(sqrt(sum(x * z, axis=2)), axis=1)", "4000:1"),
            256000)
      << "not all rows are one";
  const Plan plan = plan_of(test::make_op(f32, {{"x", "(70000,512):(512,1)"}, {"y", "1:0"}},
                                          "y = mean(log(sum(exp(x), axis=1)), axis=0)"));
  EXPECT_EQ(std::get<Several>(plan.family).temporaries.at(0).elements.value(), 70000)
      << "blocks of few rows";
}

// 1302/28 of the sweep: 2.3 us by two kernels.
TEST(Parts, WithReductionsOfAFewElementsAreOneKernelIfSmall) {
  const char* const kLoss =
      "m = max(x, axis=2); v = m + log(sum(exp(x - m), axis=2)); y = mean(v, axis=(0, 1))";
  EXPECT_EQ(text_of(loss("48", "4", kLoss)), "rows x x x x -> y");
  EXPECT_EQ(text_of(loss("48", "7", kLoss)), "rows x x x x x x x -> y");
  EXPECT_EQ(text_of(loss("48", "9", kLoss)), "rows x -> #0; rows #0 -> y");
  EXPECT_EQ(text_of(loss("4800", "4", kLoss)), "rows x -> #0; rows #0 -> y");
  EXPECT_EQ(text_of(loss("48", "4", "y = mean(f32(argmax(x, axis=2)), axis=(0, 1))")),
            "rows x -> #0; rows #0 -> y");
  EXPECT_EQ(text_of(loss("48", "4", "y = max(x * sum(x, axis=2), axis=(0, 1, 2))")),
            "rows x -> #0; rows x #0 -> y");
  const Plan plan = plan_of(loss("48", "4", kLoss));
  const Plan& part = parts_of(plan)[0];
  for (std::size_t k = 0; k < 4; ++k)
    EXPECT_EQ(part.operands[k].offset, static_cast<std::int64_t>(k));
  EXPECT_EQ(part.operands[4].offset, 0);
}

Fused matrices(const std::string& formula, const char* w = "(64):(1)") {
  Fused op = test::make_op(f32, {{"x", kMatrix}, {"y", kMatrix}, {"w", w}}, formula);
  if (formula.find("w =") == std::string::npos) op.tensors.pop_back();
  return op;
}

TEST(Parts, AreCutWhereOtherAxesBegin) {
  struct Row {
    Fused op;
    const char* parts;
  };
  Fused in_place = matrices("x = x - max(x, axis=1)\ny = x * sum(x, axis=0)");
  in_place.tensors[0].access = Access::inout;
  const Row rows[] = {
      // The second part reads x again: only one value per row goes through memory.
      {matrices("y = x / sum(x, axis=1) / sum(x, axis=0)"), "rows x -> #0; rows x #0 -> y"},
      {matrices("w = max(x, axis=1)\ny = x * sum(w, axis=0)"),
       "rows x -> w #0; rows #0 -> #1; map x #1 -> y"},
      // Reductions over the same axes of the same space stay together.
      {matrices("w = max(x, axis=1)\ny = x * sum(x, axis=0) * mean(x - w, axis=1)"),
       "rows x -> w #0; rows x #0 -> y"},
      {matrices("y = cumsum(x) + cumsum(x, reverse=true)"), "scan x -> #0; scan x #0 -> y"},
      {matrices("y = cumsum(cumsum(x))"), "scan x -> #0; scan #0 -> y"},
      {matrices("y = cumsum(x) / max(cumsum(x))"), "scan x -> #0; rows #0 -> y"},
      {matrices("y = cumsum(x) / sum(x, axis=0)"), "scan x -> #0; rows x #0 -> y"},
      // A value that does not vary along an axis is computed once for the whole axis.
      {test::make_op(f32, {{"x", kMatrix}, {"b", "(64,1):(1,1)"}, {"y", kMatrix}},
                     "y = x / sum(x, axis=1) * sum(b, axis=0)"),
       "rows x -> #0; rows b -> #1; map x #0 #1 -> y"},
      {matrices("y = cumsum(cumsum(f32(1), axis=0) + sum(x, axis=1), axis=0)"),
       "scan -> #0; rows x -> #1; scan #0 #1 -> #2; map #2 -> y"},
      // x is replaced once nobody reads it any more.
      {in_place, "rows x -> #0; rows x #0 -> x y"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.op.formula);
    EXPECT_EQ(text_of(row.op), row.parts);
  }
}

TEST(Parts, HaveTheSpaceOfTheirOwnValues) {
  Fused op = test::make_op(bf16, {{"x", "(8,16,32):(512,32,1)"}, {"y", "(8,1,1):(1,1,1)"}},
                           "y = max(sum(x, axis=2), axis=1) / extent(2)");
  const Plan plan = plan_of(op);
  const auto& several = std::get<Several>(plan.family);
  const auto& parts = several.parts;
  const auto& temporaries = several.temporaries;
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(extents_of(parts[0]), "32 128");
  EXPECT_EQ(extents_of(parts[1]), "16 8");
  EXPECT_EQ(parts[1].shape, (std::vector<Dim>{8, 16, 32})) << "extents are the operation's";
  ASSERT_EQ(temporaries.size(), 1U);
  EXPECT_EQ(temporaries[0].dtype, f32) << "as it is accumulated";
  EXPECT_EQ(temporaries[0].elements, Dim(128));
  EXPECT_EQ(plan.kernel_name, "tilejit_test_bf16");
  EXPECT_EQ(parts[1].kernel_name, "tilejit_test_bf16_part1");
  EXPECT_EQ(template_name(plan), "fused_parts");
  EXPECT_EQ(total_units(plan), 1);
}

TEST(Parts, MakeValuesOfTheirResultsOncePerRow) {
  const auto temporaries_of = [](const std::string& formula) {
    return std::get<Several>(plan_of(matrices(formula)).family).temporaries.size();
  };
  EXPECT_EQ(temporaries_of("y = x * rsqrt(var(x, axis=1) + 1e-5) / sum(x, axis=0)"), 1U)
      << "not the two sums of which a variance is made";
  EXPECT_EQ(temporaries_of("y = x * (mean(x, axis=1) + mean(x, axis=0)) * sum(x, axis=1)"), 2U);
  EXPECT_EQ(temporaries_of("y = cumsum(x * 2) * 2 / sum(x, axis=0)"), 1U);
}

// 2913/41 of the sweep: a mean, what corrects it, whether it does, and a factor were four inputs.
TEST(Parts, MakeValuesOfResultsOfSeveralPassesOncePerRow) {
  const auto standardised = [](const std::string& columns) {
    const std::string matrix = "(8149," + columns + "):(" + columns + ",1)";
    Fused op = test::make_op(bf16, {{"x", matrix}, {"y", matrix}},
                             "y = (x - mean(x)) * rsqrt(var(x) + 1e-5)");
    op.axis = {0};
    return text_of(op);
  };
  EXPECT_EQ(standardised("1311"), "rows x -> #0; rows x #0 -> #1 #2; map x #1 #2 -> y");
  EXPECT_EQ(standardised("3311"), "rows x -> #0 #1; map x #0 #1 -> y") << "read with centres";
}

TEST(Parts, TakeSymbolsAsParameters) {
  Fused op = test::make_op(f32, {{"x", "(M,N):(N,1)"}, {"y", "(M,N):(N,1)"}},
                           "y = x / sum(x, axis=1) / sum(x, axis=0)");
  const Plan plan = plan_of(op);
  EXPECT_EQ(to_string(std::get<Several>(plan.family).temporaries[0].elements), "M");
  ASSERT_EQ(plan.params.size(), 4U);
  EXPECT_EQ(plan.params[2].kind, Param::Kind::dim);
  EXPECT_EQ(to_string(plan.params[3].dim), "N");
}

// 2709/1 of the sweep: 16.1 us by clusters that read strips of 4 columns twice, five times the
// sectors each time (torch.compile 12.2).
TEST(Parts, ReadOddColumnsOnceEachIfStripsShareSectors) {
  const auto parts = [](const std::string& rows, const std::string& columns) {
    const std::string x = "(" + rows + "," + columns + "):(" + columns + ",1)";
    Fused op = test::make_op(f16, {{"x", x}, {"m", x}, {"y", x}},
                             "v = where(m, x, 0.0); y = v / (sqrt(sum(v * v, axis=0)) + 1)");
    op.tensors[1].dtype = b8;
    return parts_of(plan_of(op)).size();
  };
  EXPECT_EQ(parts("13234", "77"), 2U);
  EXPECT_EQ(parts("1323", "77"), 0U);
  EXPECT_EQ(parts("13234", "128"), 0U) << "strips of sectors";
}

TEST(Parts, TakeNoKnobsButAtomics) {
  Fused op = matrices("y = x / sum(x, axis=1) / sum(x, axis=0)");
  op.tuning.atomics = true;
  EXPECT_EQ(parts_of(plan_of(op)).size(), 2U);
  op.tuning.threads = 256;
  try {
    (void)plan_of(op);
    ADD_FAILURE() << "planned";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_spec);
    EXPECT_EQ(error.where(), "/tuning");
  }
}

TEST(Parts, WriteInPlaceBehindAllThatRead) {
  Fused op = test::make_op(f32, {{"x", kMatrix}, {"w", "(64,1):(1,1)"}, {"y", "(1,1):(1,1)"}},
                           "r = sum(x, axis=1)\ny = sum(r, axis=0)\nold = w\nw = y + r + old\n"
                           "x = x + y + old");
  op.tensors[0].access = op.tensors[1].access = Access::inout;
  EXPECT_EQ(text_of(op), "rows x -> #0; rows #0 -> y #1; map x #1 w -> x; map #0 #1 w -> w");
}

}  // namespace
}  // namespace tilejit::plan
