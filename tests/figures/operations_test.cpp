#include "figures/operations.hpp"

#include <gtest/gtest.h>

#include "support/specs.hpp"

namespace tilejit::figures {
namespace {

using test::make_op;
using Tensors = std::vector<std::pair<std::string, std::string>>;

struct OperationsCase {
  const char* name;
  Tensors tensors;
  const char* formula;
  std::int64_t want;
};

TEST(Operations, AreCountedOnceAValue) {
  const Tensors pair = {{"x", "(10,20):(20,1)"}, {"y", "(10,20):(20,1)"}};
  const OperationsCase cases[] = {
      {"copy", pair, "y = x", 0},
      {"constant", pair, "y = x * 0.0 + 3", 400},
      {"a cast, a choice and a comparison", pair, "y = where(x > 0, x, cast(cast(x, f16), f32))",
       200},
      {"functions count once", pair, "y = gelu(exp(x) / 2)", 600},
      {"common values count once", pair, "y = (x + 1) * (x + 1)", 400},
      {"sum", {{"x", "(10,20):(20,1)"}, {"y", "(10):(1)"}}, "y = sum(x)", 200},
      {"of a row, once", {{"x", "(10,20):(20,1)"}, {"y", "(10):(1)"}}, "y = sum(x) / 20", 210},
      {"softmax", pair, "e = exp(x - max(x)); y = e / sum(e)", 5 * 200},
      {"scan", pair, "y = cumsum(x)", 200},
      {"a row that all share",
       {{"w", "(20):(1)"}, {"x", "(10,20):(20,1)"}, {"y", "(10,20):(20,1)"}},
       "y = x * exp(w)",
       200 + 20},
      {"repeated by stride 0", {{"w", "(10,20):(0,1)"}, {"y", "(10,20):(20,1)"}}, "y = exp(w)", 20},
      {"nested modes", {{"x", "((2,5),20):((1,2),10)"}, {"y", "(10,20):(20,1)"}}, "y = x + 1", 200},
      {"a product and its sum with a row",
       {{"a", "(10,20)"}, {"b", "(20,30)"}, {"c", "30"}, {"d", "(10,30)"}},
       "d = a @ b + c",
       2 * 10 * 20 * 30 + 300},
      {"a computed operand, once for two products",
       {{"a", "(10,20)"}, {"b", "(20,30)"}, {"d", "(10,30)"}, {"e", "(10,10)"}},
       "x = a + 1; d = x @ b; e = x @ a.T",
       200 + 2 * 10 * 20 * 30 + 2 * 10 * 20 * 10},
      {"nothing", {{"x", "(0,20):(20,1)"}, {"y", "(0,20):(20,1)"}}, "y = x + 1", 0},
  };
  for (const OperationsCase& row : cases) {
    const Fused op = make_op(f32, row.tensors, row.formula);
    EXPECT_EQ(count_operations(op.tensors, formula::analyze(op), {}), row.want) << row.name;
  }
}

TEST(Operations, OfSymbolsNeedTheirValues) {
  const Fused op = make_op(f32, {{"x", "(M,N):(N,1)"}, {"y", "(M,N):(N,1)"}}, "y = x + 1");
  const formula::Analysis analysis = formula::analyze(op);
  EXPECT_EQ(count_operations(op.tensors, analysis, {{"M", 3}, {"N", 5}}), 15);
  EXPECT_EQ(count_operations(op.tensors, analysis, {{"M", 3}}), std::nullopt);
  EXPECT_EQ(count_operations(op.tensors, analysis, {{"M", INT64_MAX}, {"N", 2}}), std::nullopt);
}

}  // namespace
}  // namespace tilejit::figures
