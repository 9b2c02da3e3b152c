// Two products with an operand in common: when one kernel computes both, and with which tiles.
#include "plan/pairs.hpp"

#include <gtest/gtest.h>

#include "plans.hpp"
#include "tilejit/error.hpp"
#include "wgmma/wgmma_plan.hpp"

namespace tilejit::plan {
namespace {

std::size_t kernels(const Plan& plan) {
  return parts_of(plan).size();
}

const MatmulWgmma* pair_of(const Plan& plan) {
  const auto* const wgmma = std::get_if<MatmulWgmma>(&parts_of(plan).back().family);
  return wgmma != nullptr && wgmma->second ? wgmma : nullptr;
}

/// Of x (M,K), u and v (K,N), y (M,N), all row-major.
Fused gated(int m, int n, int k, const char* formula = "y = silu(x @ u) * (x @ v)") {
  return {.name = "gated",
          .tensors = {{"x", bf16, Layout(IntTuple{m, k}, IntTuple{k, 1})},
                      {"u", bf16, Layout(IntTuple{k, n}, IntTuple{n, 1})},
                      {"v", bf16, Layout(IntTuple{k, n}, IntTuple{n, 1})},
                      {"y", bf16, Layout(IntTuple{m, n}, IntTuple{n, 1})}},
          .formula = formula};
}

TEST(Pairs, AreOneKernel) {
  const Plan plan = plan_of(gated(4096, 4096, 4096));
  ASSERT_EQ(kernels(plan), 1U);
  const MatmulWgmma* const pair = pair_of(plan);
  ASSERT_NE(pair, nullptr);
  EXPECT_EQ(pair->tile.n * 2, pair->columns());
  EXPECT_EQ(pair->atom.n, pair->columns());
  EXPECT_EQ(pair->words, 1);
  EXPECT_TRUE(pair->alike);
  const Plan& part = parts_of(plan).front();
  EXPECT_EQ(part.tensors.size(), 4U) << "x and one weight, the other one, y";
  for (const Operand& operand : part.operands)
    EXPECT_EQ(operand.reach == Reach::product, !operand.written);
  EXPECT_EQ(std::get<Several>(plan.family).temporaries.at(0).elements, Dim(0));
}

TEST(Pairs, HaveTheirOperandsInCommon) {
  struct Case {
    const char *what, *formula;
    std::size_t kernels;
  };
  constexpr Case kCases[] = {
      {"the left one", "y = silu(x @ u) * (x @ v)", 1},
      {"a sum", "y = gelu(x @ u) + (x @ v) * 0.5", 1},
      {"three, of which two are a pair", "y = silu(x @ u) * (x @ v) + bf16(relu(x)) @ v", 3},
      {"a factor of the same product", "y = silu(x @ u) * (x @ v) + x @ (u * 2)", 1},
      {"normalised", "h = x * rsqrt(mean(x * x) + 1); y = silu(h @ u) * (h @ v)", 1},
      {"computed", "h = bf16(relu(x)); y = silu(h @ u) * (h @ v)", 2},
      {"the sums of one are reduced", "p = x @ u; y = p / sum(p) + x @ v", 3},
      {"the operands differ", "y = silu(x @ u) * (bf16(relu(x)) @ v)", 3},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.what);
    EXPECT_EQ(kernels(plan_of(gated(2048, 2048, 2048, c.formula))), c.kernels);
  }
}

TEST(Pairs, ShareARightOperandWhenExchanged) {
  const Fused op{.name = "gated",
                 .tensors = {{"u", bf16, "(4096,2048)"},
                             {"v", bf16, "(4096,2048)"},
                             {"x", bf16, "(2048,1024)"},
                             {"y", bf16, "(4096,1024):(1,4096)"}},
                 .formula = "y = silu(u @ x) * (v @ x)"};
  const Plan plan = plan_of(op);
  ASSERT_EQ(kernels(plan), 1U);
  const MatmulWgmma* const pair = pair_of(plan);
  ASSERT_NE(pair, nullptr);
  EXPECT_TRUE(pair->swapped);
  EXPECT_FALSE(pair->along_m) << "the result lies along the columns of the exchanged product";
  EXPECT_EQ(parts_of(plan).front().tensors[static_cast<std::size_t>(pair->second->tensor)], 0)
      << "u, whose product the formula reads first";
}

TEST(Pairs, TakeNoTilesThatPanelsDoNotDivide) {
  for (const char* u : {"(2048,2048):(2048,1)", "(2048,2048):(1,2048)"}) {
    SCOPED_TRACE(u);
    Fused op = gated(2048, 2048, 2048);
    op.tensors[1].layout = op.tensors[2].layout = u;
    const Plan plan = plan_of(op);
    ASSERT_NE(pair_of(plan), nullptr);
    const WgmmaProblem problem = problem_of(parts_of(plan).back(), *pair_of(plan));
    const auto tiles = ranked_tiles(problem);
    EXPECT_GE(tiles.size(), 8U);
    for (const WgmmaTile& tile : tiles) {
      EXPECT_EQ(tile.n % (problem.b == atoms::Major::k ? 8 : 64), 0) << tile.n;
      EXPECT_LE(tile.n * 2, 256);
      EXPECT_FALSE(tile.swapped);
    }
  }
}

TEST(Pairs, HaveTensorMapsThatTheDriverTakes) {
  for (const char* u : {"(328,776):(776,1)", "(328,776):(1,328)"}) {
    for (const int cluster : {1, 2}) {
      for (const int n : {64, 128}) {
        SCOPED_TRACE(std::string(u) + " " + std::to_string(n) + " " + std::to_string(cluster));
        Fused op = gated(520, 776, 328);
        op.tensors[1].layout = op.tensors[2].layout = u;
        op.tuning = {.tile = {{n, 128}}, .cluster = cluster};
        const Plan plan = plan_of(op);
        const Plan& part = parts_of(plan).front();
        ASSERT_NE(pair_of(plan), nullptr);
        const MatmulWgmma& pair = *pair_of(plan);
        operation::check_tensor_maps(part.signature, launch_plan(part));
        const BoxesOfTile boxes = boxes_of(pair, atoms::Operand::b);
        EXPECT_EQ(boxes.count % 2, 0) << "each product has its own";
        EXPECT_EQ(boxes.count * boxes.extent * boxes.depth, 2 * n * pair.tile.k);
        const operation::TensorMap map = second_tensor_map(part, pair);
        EXPECT_EQ(map.modes[0].box * map.modes[1].box, boxes.extent * boxes.depth);
        EXPECT_LE(dynamic_shared_bytes(part), 227 * 1024);
      }
    }
  }
}

TEST(Pairs, AreProductsOfTheirOwnElsewhere) {
  const Fused op = gated(4096, 4096, 4096);
  for (const char* target : {"sm_80", "sm_90", "sm_100a", "sm_120a"})
    EXPECT_EQ(kernels(plan_of(op, parse_target(target))), 2U) << target;
  Fused other = op;
  other.tensors[2].layout = "(4096,4096):(1,4096)";
  EXPECT_EQ(kernels(plan_of(other)), 2U) << "one lies along N and the other one along K";
  other = op;
  other.tensors[2].layout = "(4096,4096):(4097,1)";
  EXPECT_EQ(kernels(plan_of(other)), 3U) << "tensor maps cannot show it, so that it is copied";
  other = op;
  other.tensors.push_back({"p", f32, "(4096,4096)"});
  other.formula = "p = x @ u; y = silu(p) * (x @ v)";
  EXPECT_EQ(kernels(plan_of(other)), 2U) << "an output besides";
  other = op;
  other.tensors[2].access = Access::inout;
  other.formula = "y = silu(x @ u) * (x @ v); v = v * 2";
  EXPECT_EQ(kernels(plan_of(other)), 2U) << "a pair, and then v is replaced";
  other.formula = "p = silu(x @ u) * (x @ v); y = p; v = p";
  EXPECT_EQ(kernels(plan_of(other)), 2U) << "v is replaced by what is made of it";
}

}  // namespace
}  // namespace tilejit::plan
