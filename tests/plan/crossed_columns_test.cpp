// Columns of which lanes side by side have whole sectors of operands in two orders.
#include <gtest/gtest.h>

#include "plan/plans.hpp"
#include "support/specs.hpp"

namespace tilejit::plan {
namespace {

Plan softmax_of_two_orders(DType in, DType out, const std::string& x, const std::string& y) {
  Fused op = test::make_op(in, {{"x", x}, {"y", y}}, "e = exp(x - max(x)); y = e / sum(e)");
  op.axis = {0};
  op.tensors[1].dtype = out;
  return plan_of(op);
}

// 992x8x5080 f32 of which elements side by side in the output are a sector apart.
TEST(CrossedColumns, HaveWholeSectorsOfInputAndOutput) {
  const auto extents = [](const std::string& shape, const char* x, const char* y) {
    return extents_of(softmax_of_two_orders(f32, f32, shape + x, shape + y));
  };
  EXPECT_EQ(extents("(992,8,5080):", "(40640,1,8)", "(40640,5080,1)"), "8 8 635 992");
  EXPECT_EQ(extents("(4,72,5,65536):", "(72,1,18874368,288)", "(23592960,327680,65536,1)"),
            "32 8 10240 9 4");
  EXPECT_EQ(extents("(24,1024,128,5):", "(5120,1,122880,1024)", "(655360,640,5,1)"),
            "5 8 8 16 128 24")
      << "the runs of several modes";
  EXPECT_EQ(extents("(992,8,5081):", "(40648,1,8)", "(40648,5081,1)"), "5081 8 992")
      << "no part divides the mode";
}

// f16 432x16x1536: 24.0 us by two kernels, 28.3 by threads that hold 56 elements.
TEST(CrossedColumns, AreFewIfThreadsHoldMany) {
  EXPECT_TRUE(std::holds_alternative<Several>(
      softmax_of_two_orders(f16, f16, "(432,16,1536):(24576,1,16)", "(432,16,1536):(24576,1536,1)")
          .family));
}

}  // namespace
}  // namespace tilejit::plan
