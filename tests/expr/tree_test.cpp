// Formulas with products of matrices: their grammar and types. tests/formula/steps_test.cpp has
// what follows from shapes.
#include "expr/tree.hpp"

#include <string>

#include "expr_support.hpp"

namespace tilejit::expr {
namespace {

std::string tree_text(std::string_view formula) {
  const Tree tree = compile_tree(formula, scope_for(formula));
  return program_text({.nodes = tree.nodes, .stores = tree.stores});
}

TEST(Trees, HaveThePrecedenceOfTimes) {
  constexpr const char* kPairs[][2] = {
      {"y = x_f32 @ x_f32 * 2", "y = (x_f32 @ x_f32) * 2"},
      {"y = 2 * x_f32 @ x_f32", "y = (2 * x_f32) @ x_f32"},
      {"y = x_f32 @ x_f32 @ x_f32", "y = (x_f32 @ x_f32) @ x_f32"},
      {"y = x_f32 + x_f32 @ x_f32", "y = x_f32 + (x_f32 @ x_f32)"},
      {"y = -x_f32 @ x_f32", "y = (-x_f32) @ x_f32"},
      {"y = x_f32 @ x_f32 ** 2", "y = x_f32 @ (x_f32 ** 2)"},
      {"y = x_f32 @ -x_f32.T", "y = x_f32 @ (-(x_f32.T))"},
      {"y = x_f32.T@x_f32", "y = (x_f32.T) @ (x_f32)"},
  };
  for (const auto& [formula, same] : kPairs)
    EXPECT_EQ(tree_text(formula), tree_text(same)) << formula;
}

TEST(Trees, AreMadeOnlyWhereTheFormulaAsksForThem) {
  const std::vector<FunctionText> functions = {{"linear", {"a", "b"}, "a @ b + 1"},
                                               {"twice", {"a", "b"}, "linear(a, b) * 2"},
                                               {"half", {"a"}, "a / 2"}};
  EXPECT_TRUE(has_spaces("y = x @ w", {}));
  EXPECT_TRUE(has_spaces("y = x.T", {}));
  EXPECT_TRUE(has_spaces("y = twice(x, w)", functions));
  EXPECT_FALSE(has_spaces("y = half(x)", functions));
  EXPECT_FALSE(has_spaces("y = x  # x @ x.T", {}));
}

struct TypeRow {
  DType a, b;
  const char* type;  ///< of the product, or what the message says
};

constexpr TypeRow kTypes[] = {
    {f16, f16, "f16"},
    {bf16, bf16, "bf16"},
    {f32, f32, "f32"},
    {f64, f64, "f64"},
    {tf32, tf32, "f32"},
    {f8e4m3, f8e4m3, "f32"},
    {f8e4m3, f8e5m2, "f32"},
    {f8e5m2, f8e4m3, "f32"},
    {i8, i8, "i32"},
    {i8, u8, "i32"},
    {u8, i8, "i32"},
    {u8, u8, "i32"},
    {f16, bf16, "cast one of them, e.g. f16(...)"},
    {bf16, f32, "cast one of them, e.g. bf16(...)"},
    {f32, f64, "cast one of them, e.g. f32(...)"},
    {tf32, f32, "cast one of them, e.g. f32(...)"},
    {f8e4m3, f16, "cast one of them, e.g. f8e4m3(...)"},
    {i32, i32, "cast both to one of f16, bf16, f32 and f64, or to i8 or u8"},
    {i8, i16, "cast both to one of f16, bf16, f32 and f64, or to i8 or u8"},
    {i8, f16, "cast both to one of f16, bf16, f32 and f64, or to i8 or u8"},
    {b8, b8, "cast both to one of f16, bf16, f32 and f64, or to i8 or u8"},
};

TEST(Trees, HaveTheTypesOfProducts) {
  for (const TypeRow& row : kTypes) {
    Scope scope;
    scope.tensors = {{.name = "a", .dtype = row.a}, {.name = "b", .dtype = row.b}, {.name = "y"}};
    SCOPED_TRACE(std::string(to_string(row.a)) + " @ " + std::string(to_string(row.b)));
    try {
      const Tree tree = compile_tree("y = f32(a @ b)", scope);
      for (const Node& node : tree.nodes) {
        if (node.op == Op::matmul) {
          EXPECT_EQ(to_string(node.type), row.type);
        }
      }
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(row.type), std::string::npos) << message;
      EXPECT_NE(message.find("\n    y = f32(a @ b)\n              ^"), std::string::npos)
          << message;
    }
  }
}

TEST(Trees, KnowEachReductionByItsPlace) {
  const Tree tree =
      compile_tree("t = sum(x_f32); y = t + sum(x_f32) + t @ x_f32", scope_for("x_f32"));
  EXPECT_EQ(tree.axes.size(), 2U) << "one for each that is written";
  EXPECT_EQ(tree.products.size(), 1U);
  EXPECT_EQ(tree.axes[0].place.position, 4U);
}

TEST(Trees, ReadAnAssignedOutputAsATensor) {
  Scope scope;
  scope.tensors = {{.name = "x"}, {.name = "h", .dtype = bf16}, {.name = "y"}};
  const Tree tree = compile_tree("h = x; y = h @ h.T", scope);
  ASSERT_EQ(tree.reads.size(), 3U);
  EXPECT_EQ(tree.reads[1].what, (TensorRead{.tensor = 1, .assigned = true}));
  EXPECT_EQ(tree.reads[2].what, (TensorRead{.tensor = 1, .transposed = true, .assigned = true}));
  EXPECT_EQ(tree.nodes[static_cast<std::size_t>(tree.stored[0])].op, Op::cast) << "what is stored";
}

struct WrongTree {
  const char* formula;
  const char* message;
};

TEST(Trees, RefuseWhatIsNoMatrix) {
  constexpr WrongTree kWrongTrees[] = {
      {"y = x_f32 @ 2", "'@' takes two matrices, not f32 and 2: a literal has no shape"},
      {"t = x_f32 + 1; y = t.T @ t", "'t' is no tensor: '.T' swaps the modes of a tensor"},
      {"y = (x_f32 + 1).T @ x_f32", "found '.T'; it swaps the last two modes of a tensor"},
      {"y = x_f32 @", "expected an expression, found the end of the text"},
      {"y = @ x_f32", "expected an expression, found '@'"},
      {"y = x_f32.Tx @ x_f32", "values have no methods"},
      {"x @= y", "write 'x = x @ ...'"},
  };
  for (const WrongTree& row : kWrongTrees) {
    SCOPED_TRACE(row.formula);
    try {
      (void)compile_tree(row.formula, scope_for(row.formula));
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_formula);
      EXPECT_NE(std::string(error.what()).find(row.message), std::string::npos) << error.what();
    }
  }
}

TEST(Trees, RefuseTransposedArgumentsInFunctions) {
  Scope scope = scope_for("x_f32");
  scope.functions = {{"gram", {"a"}, "a.T @ a"}};
  const std::string message = refusal("y = gram(x_f32)", scope, "/functions/gram/expr");
  EXPECT_NE(message.find("pass 'a.T' to the function"), std::string::npos) << message;
}

TEST(Trees, StandInNoFormulaOfOneSpace) {
  EXPECT_NE(refusal("y = x_f32 @ x_f32", scope_for("x_f32")).find("fused operations only"),
            std::string::npos);
}

}  // namespace
}  // namespace tilejit::expr
