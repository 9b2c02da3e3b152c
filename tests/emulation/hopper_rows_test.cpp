// Rows that blocks of a cluster share, and rows that are copied ahead in bulk, run on the CPU
// against the reference.
#include <utility>

#include "emulation/emulated.hpp"

namespace tilejit::test::hopper {
namespace {

struct RowsCase {
  const char* what;
  std::vector<Tensor> tensors;
  const char* formula;
  int cluster = 1;
  SymbolValues symbols = {};
};

void add_rows(EmulatedKernels& kernels, const RowsCase& c) {
  SCOPED_TRACE(c.what);
  RandomCase one{.op = {.tensors = c.tensors, .formula = c.formula, .axis = {1}},
                 .symbols = c.symbols,
                 .scalars = {}};
  one.op.tuning.cluster = c.cluster;
  EXPECT_EQ(EmulatedKernels::templates_of(one.op), "fused_rows ");
  kernels.add(c.what, one);
}

constexpr const char* kNorm = "d = x - mean(x); y = d * rsqrt(mean(d * d) + 1e-5)";
constexpr const char* kSoftmax = "e = exp(x - max(x)); y = e / sum(e)";

TEST(HopperRows, InClustersAgreeWithTheReference) {
  const RowsCase cases[] = {
      {"sums", {{"x", f32, "(5,9000)"}, {"y", f32, "(5,1)"}}, "y = sum(x)", 4},
      {"a norm", {{"x", bf16, "(3,8192)"}, {"y", bf16, "(3,8192)"}}, kNorm, 2},
      {"softmax, ragged", {{"x", f32, "(2,10001)"}, {"y", f32, "(2,10001)"}}, kSoftmax, 8},
      {"places", {{"x", bf16, "(4,8192)"}, {"y", i64, "(4,1)"}}, "y = argmax(x)", 4},
      {"symbols", {{"x", bf16, "(R,C)"}, {"y", bf16, "(R,C)"}}, kNorm, 4, {{"R", 3}, {"C", 5000}}},
      {"two inputs and weights",
       {{"x", bf16, "(3,16384)"},
        {"r", bf16, "(3,16384)"},
        {"w", bf16, "(1,16384)"},
        {"y", bf16, "(3,16384)"}},
       "v = x + r; y = v * rsqrt(mean(v * v) + 1e-5) * w",
       2},
      {"columns, an output that lies along them",
       {{"x", f16, "(18,5000):(1,18)"}, {"y", f16, "(18,5000):(5000,1)"}},
       kSoftmax,
       2},
      {"columns whose offsets are computed once more",
       {{"x", bf16, "(33,6172):(1,33)"}, {"y", bf16, "(33,6172):(1,33)"}},
       kNorm,
       8},
      {"odd rows whose weights are kept",
       {{"x", f16, "(5,20001)"}, {"g", f16, "(1,20001)"}, {"y", f16, "(5,20001)"}},
       "y = x * rsqrt(mean(x * x) + 1e-5) * g",
       4},
  };
  EmulatedKernels kernels;
  for (const RowsCase& c : cases) add_rows(kernels, c);
  ASSERT_TRUE(kernels.compile());
  Random random(19);
  kernels.verify_all(random);
}

/// Odd columns in strips, of which fewer would fit the cache: a narrower last strip, lanes with
/// fewer rows than others, and a tensor that ends within a vector.
TEST(HopperRows, OfOddColumnsInStripsAgreeWithTheReference) {
  const std::string layout = "(3,701,3001):(2103701,3001,1)";
  const auto case_of = [](std::vector<Tensor> tensors, std::string formula) {
    return RandomCase{
        .op = {.tensors = std::move(tensors), .formula = std::move(formula), .axis = {1}},
        .symbols = {},
        .scalars = {}};
  };
  EmulatedKernels kernels;
  for (const RandomCase& one : {
           case_of({{"x", f32, layout}, {"y", f32, layout}}, kSoftmax),
           case_of({{"x", f32, layout, Access::inout}}, "e = exp(x - max(x)); x = e / sum(e)"),
       }) {
    EXPECT_EQ(EmulatedKernels::templates_of(one.op), "fused_strips ");
    kernels.add("odd columns", one);
  }
  ASSERT_TRUE(kernels.compile());
  Random random(20);
  kernels.verify_all(random);
}

/// What the emulation is for: a kernel that does not wait as it should is found.
TEST(HopperRows, ThatDoNotWaitGoWrong) {
  const std::pair<const char*, const char*> changes[] = {
      {"if (n == 0) cluster_wait();", ""},
      {"wait_for_bytes(&full, 0);", ""},
      {"wait_for_bytes(barrier, n / 2 % 2);", ""},
      {"wait_for_bytes(barrier, n / 2 % 2);", "wait_for_bytes(barrier, 0);"},
      {"expect_bytes(barrier, kBlocks", "expect_bytes(barrier, (kBlocks - 1)"},
  };
  EmulatedKernels kernels;
  for (const auto& [from, to] : changes) {
    add_rows(kernels, {from,
                       {{"x", bf16, "(9,16384)"},
                        {"r", bf16, "(9,16384)"},
                        {"w", bf16, "(1,16384)"},
                        {"y", bf16, "(9,16384)"}},
                       "v = x + r; y = v * rsqrt(mean(v * v) + 1e-5) * w",
                       2});
    kernels.change(from, to);
  }
  ASSERT_TRUE(kernels.compile());
  Random random(3);
  kernels.expect_all_wrong(random);
}

}  // namespace
}  // namespace tilejit::test::hopper
