// What products reduce along N, tile by tile, and the step that follows.
#include "plan/row_reductions.hpp"

#include <gtest/gtest.h>

#include <cctype>

#include "plans.hpp"

namespace tilejit::plan {
namespace {

/// Of x (M,K), w (K,N), y (M,N), r and m, s (M,1), bias (N), all row-major.
Fused reduced(const char* formula, int m = 4096, int n = 4096, int k = 1024) {
  Fused op{.name = "reduced",
           .tensors = {{"x", bf16, Layout(IntTuple{m, k}, IntTuple{k, 1})},
                       {"w", bf16, Layout(IntTuple{k, n}, IntTuple{n, 1})},
                       {"bias", bf16, Layout(n, 1)},
                       {"r", f32, Layout(IntTuple{m, 1}, IntTuple{1, 0})},
                       {"m", f32, Layout(IntTuple{m, 1}, IntTuple{1, 0})},
                       {"s", f32, Layout(IntTuple{m, 1}, IntTuple{1, 0})},
                       {"y", bf16, Layout(IntTuple{m, n}, IntTuple{n, 1})}},
           .formula = formula};
  const std::string text = op.formula;
  const auto is_used = [&](const std::string& name) {
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
      const bool in_word =
          (at > 0 && std::isalpha(text[at - 1]) != 0) || std::isalpha(text[at + name.size()]) != 0;
      if (!in_word) return true;
    }
    return false;
  };
  std::erase_if(op.tensors, [&](const Tensor& tensor) { return !is_used(tensor.name); });
  return op;
}

const MatmulWgmma* reducing(const Plan& plan) {
  for (const Plan& part : parts_of(plan)) {
    const auto* const product = std::get_if<MatmulWgmma>(&part.family);
    if (product != nullptr && !product->reductions.empty()) return product;
  }
  return nullptr;
}

TEST(RowReductions, LeaveAPartialResultForEachTile) {
  const Plan plan = plan_of(reduced("m = max(x @ w)"));
  const MatmulWgmma* const product = reducing(plan);
  ASSERT_NE(product, nullptr);
  ASSERT_EQ(parts_of(plan).size(), 2U);
  EXPECT_FALSE(product->swapped) << "a warp has whole rows of its tile";
  EXPECT_TRUE(product->by_words());
  EXPECT_EQ(product->words, 0) << "there is no output of all elements";
  const std::int64_t tiles = tiles_along_n(parts_of(plan).front(), *product);
  EXPECT_EQ(tiles, (4096 + product->tile.n - 1) / product->tile.n);
  const auto& temporaries = std::get<Several>(plan.family).temporaries;
  ASSERT_EQ(temporaries.size(), 2U);
  EXPECT_EQ(temporaries[0].elements, Dim(0)) << "the product's results are in no memory";
  EXPECT_EQ(temporaries[1].elements, Dim(4096 * tiles));
  const Plan& rows = parts_of(plan).back();
  EXPECT_NE(rows_of(rows), nullptr) << "partial results are reduced by an ordinary kernel";
  EXPECT_EQ(rows.tensors, (std::vector{4, 2})) << "the partial results, and m";
}

TEST(RowReductions, AreOfWhatTilesKnow) {
  struct Case {
    const char *what, *formula;
    std::size_t reductions;
  };
  constexpr Case kCases[] = {
      {"a maximum", "m = max(x @ w)", 1},
      {"a mean, whose extent is that of N", "m = mean(x @ w)", 1},
      {"of a function", "s = log(sum(exp(x @ w + bias)))", 1},
      {"two", "p = x @ w; m = max(p); s = min(p * r)", 2},
      {"what is made of both", "p = x @ w; m = max(p) - r * min(p)", 2},
      {"an output besides", "y = gelu(x @ w + bias); s = sum(y * y)", 1},
      {"a product", "m = prod(1 + (x @ w) * 0.001)", 1},
      {"of a reduction", "p = x @ w; s = sum(exp(p - max(p)))", 0},
      {"an output of all elements made of one", "p = x @ w; y = p - max(p)", 0},
      {"a place", "m = f32(argmax(x @ w))", 0},
      {"a count", "s = f32(sum(i32(x @ w > 0)))", 0},
      {"along M", "bias = max(x @ w, axis=0)", 0},
      {"a scan", "y = cumsum(x @ w)", 0},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.what);
    const Plan plan = plan_of(reduced(c.formula));
    const MatmulWgmma* const product = reducing(plan);
    ASSERT_EQ(product != nullptr, c.reductions > 0);
    if (product != nullptr) {
      EXPECT_EQ(product->reductions.size(), c.reductions);
      EXPECT_EQ(parts_of(plan).size(), 2U);
    }
  }
}

TEST(RowReductions, GoThroughMemoryElsewhere) {
  constexpr const char* kFormula = "y = x @ w; m = max(y)";
  EXPECT_NE(reducing(plan_of(reduced(kFormula))), nullptr);
  for (const char* target : {"sm_80", "sm_90", "sm_100a", "sm_120a"})
    EXPECT_EQ(reducing(plan_of(reduced(kFormula), parse_target(target))), nullptr) << target;
  Fused op = reduced(kFormula);
  op.tensors.back().dtype = f32;
  EXPECT_EQ(reducing(plan_of(op)), nullptr) << "sums go through shared memory to the formula";
  EXPECT_EQ(reducing(plan_of(reduced(kFormula, 4096, 4100))), nullptr) << "rows end in a pair";
  op = reduced("m = max(x @ w); y = x @ w + 1");
  EXPECT_NE(reducing(plan_of(op)), nullptr) << "equal products are one";
  op = reduced("p = x @ w; m = max(p); t = p @ v");
  op.tensors.push_back({"v", bf16, "(4096,64)"});
  op.tensors.push_back({"t", bf16, "(4096,64)"});
  op.formula = "p = x @ w; m = max(p); t = bf16(p) @ v";
  EXPECT_EQ(reducing(plan_of(op)), nullptr) << "another step reads the results";
}

TEST(RowReductions, OfBatchesAndSymbols) {
  const Fused op{.name = "reduced",
                 .tensors = {{"x", bf16, "(B,M,1024):(1048576,1024,1)"},
                             {"w", bf16, "(1024,4096)"},
                             {"m", f32, "(B,M):(1024,1)"}},
                 .formula = "m = max(x @ w)"};
  const Plan plan = plan_of(op);
  const MatmulWgmma* const product = reducing(plan);
  ASSERT_NE(product, nullptr);
  const std::int64_t tiles = tiles_along_n(parts_of(plan).front(), *product);
  EXPECT_EQ(std::get<Several>(plan.family).temporaries.back().elements,
            Dim(tiles) * Dim("B") * Dim("M"));
}

}  // namespace
}  // namespace tilejit::plan
