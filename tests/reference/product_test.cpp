// Products of matrices in formulas: values against loops, and what verification takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "reference/case_in_memory.hpp"
#include "tilejit/error.hpp"

namespace tilejit {
namespace {

struct ProductCase {
  const char* name;
  DType a_type;
  const char* a;
  DType b_type;
  const char* b;
  DType d_type;
  const char* d;
  const char* formula = "d = a @ b";
  std::int64_t batch = 1, m, n, k;  ///< batch: of the first mode of three
};

constexpr ProductCase kProducts[] = {
    {"rows", f32, "(5,7)", f32, "(7,3)", f32, "(5,3)", "d = a @ b", 1, 5, 3, 7},
    {"columns", bf16, "(5,7):(1,5)", bf16, "(7,3):(1,7)", bf16, "(5,3):(1,5)", "d = a @ b", 1, 5, 3,
     7},
    {"transposed names", f16, "(7,5)", f16, "(3,7)", f32, "(5,3)", "d = a.T @ b.T", 1, 5, 3, 7},
    {"strided", f64, "(5,7):(20,2)", f64, "(7,3):(5,1)", f64, "(5,3):(9,3)", "d = a @ b", 1, 5, 3,
     7},
    {"batches", f32, "(4,5,7)", f32, "(4,7,3)", f32, "(4,5,3)", "d = a @ b", 4, 5, 3, 7},
    {"a repeats", f32, "(5,7)", f32, "(4,7,3)", f32, "(4,5,3)", "d = a @ b", 4, 5, 3, 7},
    {"b repeats", f32, "(4,5,7)", f32, "(1,7,3)", f32, "(4,5,3)", "d = a @ b", 4, 5, 3, 7},
    {"b repeats by strides", f32, "(4,5,7)", f32, "(4,7,3):(0,3,1)", f32, "(4,5,3)", "d = a @ b", 4,
     5, 3, 7},
    {"transposed batches", f32, "(4,7,5)", f32, "(4,7,3)", f32, "(4,5,3)", "d = a.T @ b", 4, 5, 3,
     7},
    {"nested modes", f32, "((2,3),(2,4)):((4,8),(1,24))", f32, "((4,2),5):((5,20),1)", f32,
     "((3,2),5):((2,1),6)", "d = a @ b", 1, 6, 5, 8},
    {"one row", f32, "(1,7)", f32, "(7,3)", f32, "(1,3)", "d = a @ b", 1, 1, 3, 7},
    {"one column, one place of K", f32, "(5,1)", f32, "(1,1)", f32, "(5,1)", "d = a @ b", 1, 5, 1,
     1},
    {"no place of K", f32, "(5,0)", f32, "(0,3)", f32, "(5,3)", "d = a @ b", 1, 5, 3, 0},
    {"bytes", i8, "(5,7)", i8, "(7,3)", i32, "(5,3)", "d = a @ b", 1, 5, 3, 7},
    {"mixed bytes", u8, "(5,7)", i8, "(7,3)", i32, "(5,3)", "d = a @ b", 1, 5, 3, 7},
    {"f8", f8e4m3, "(5,7)", f8e5m2, "(7,3)", f32, "(5,3)", "d = a @ b", 1, 5, 3, 7},
    {"tf32", tf32, "(5,7)", tf32, "(7,3)", f32, "(5,3)", "d = a @ b", 1, 5, 3, 7},
    {"f32 by tf32", f32, "(5,7)", f32, "(7,3)", f32, "(5,3)", "d = tf32(a) @ tf32(b)", 1, 5, 3, 7},
    {"symbols", f32, "(M,K):(K,1)", f32, "(K,N):(1,K)", f32, "(M,N):(N,1)", "d = a @ b", 1, 5, 3,
     7},
    {"computed operands", f32, "(5,7)", f32, "(7,3)", f32, "(5,3)", "d = bf16(a + 0) @ bf16(b) * 1",
     1, 5, 3, 7},
};

TEST(Products, AreTheSumsOfProducts) {
  test::Random random(1);
  for (const ProductCase& c : kProducts) {
    SCOPED_TRACE(c.name);
    const std::string formula = c.formula;
    CaseInMemory test(
        {.tensors = {{"a", c.a_type, c.a}, {"b", c.b_type, c.b}, {"d", c.d_type, c.d}},
         .formula = formula},
        {{"M", c.m}, {"N", c.n}, {"K", c.k}});
    test.fill_integers(random);
    test.evaluate();
    const bool a_turned = formula.find("a.T") != std::string::npos;
    const bool b_turned = formula.find("b.T") != std::string::npos;
    const auto swapped = [](bool turned, std::int64_t i, std::int64_t j, std::int64_t batch) {
      return turned ? std::vector<std::int64_t>{batch, j, i}
                    : std::vector<std::int64_t>{batch, i, j};
    };
    for (std::int64_t z = 0; z < c.batch; ++z) {
      for (std::int64_t i = 0; i < c.m; ++i) {
        for (std::int64_t j = 0; j < c.n; ++j) {
          double sum = 0;
          for (std::int64_t k = 0; k < c.k; ++k)
            sum += test.at(0, swapped(a_turned, i, k, z)) * test.at(1, swapped(b_turned, k, j, z));
          ASSERT_EQ(test.at(2, {z, i, j}), sum) << z << "," << i << "," << j;
        }
      }
    }
    EXPECT_EQ(test.memory(2).check_guards(), "");
    const Verification verified = test.verify();
    EXPECT_TRUE(verified.passed) << verified.first_mismatch;
    EXPECT_EQ(verified.elements, c.batch * c.m * c.n);
    if (c.k == 0) continue;
    test.set(2, {0, c.m - 1, c.n - 1}, test.at(2, {0, c.m - 1, c.n - 1}) + 1);
    EXPECT_EQ(test.verify().mismatches, 1) << "sums of integers are exact";
  }
}

TEST(Products, OfNothingHaveNoElements) {
  const Fused op{.tensors = {{"a", f32, "(M,7)"}, {"b", f32, "(7,3)"}, {"d", f32, "(M,3)"}},
                 .formula = "d = relu(a @ b)"};
  std::vector<float> b(21);
  evaluate(op, {.tensors = {nullptr, b.data(), nullptr}, .symbols = {{"M", 0}}});
}

// The value of the product is not rounded before the sum with c: 1 + 2^-8 is no bf16.
TEST(Products, AreRoundedWhereTheyAreStored) {
  const Fused op{.tensors = {{"a", bf16, "(1,2)"},
                             {"b", bf16, "(2,1)"},
                             {"d", f32, "(1,1)"},
                             {"e", bf16, "(1,1)"},
                             {"f", f32, "(1,1)"}},
                 .formula = "p = a @ b; d = p; e = p; f = bf16(p)"};
  CaseInMemory test(op);
  test.set(0, {0, 0}, 1);
  test.set(0, {0, 1}, 0x1p-9);
  test.set(1, {0, 0}, 1);
  test.set(1, {1, 0}, 2);
  test.evaluate();
  EXPECT_EQ(test.at(2, {0, 0}), 1 + 0x1p-8);
  EXPECT_EQ(test.at(3, {0, 0}), 1);
  EXPECT_EQ(test.at(4, {0, 0}), 1);
}

// An operand is rounded once, to its type: tf32 keeps 10 bits, ties go away from zero.
TEST(Products, RoundOperandsOfTf32) {
  const Fused op{.tensors = {{"a", tf32, "(1,1)"}, {"b", f32, "(1,1)"}, {"d", f32, "(1,1)"}},
                 .formula = "d = a @ tf32(b)"};
  std::vector<float> a = {1 + 0x1p-11f}, b = {1 + 0x1p-12f}, d(1);
  evaluate(op, {.tensors = {a.data(), b.data(), d.data()}});
  EXPECT_EQ(d[0], 1 + 0x1p-10f);
}

// Tensor maps round ties of tf32 to even; nothing else may be one unit off.
TEST(Products, MayRoundTiesOfTf32EitherWay) {
  const Fused op{.tensors = {{"a", tf32, "(1,1)"}, {"b", tf32, "(1,1)"}, {"d", f32, "(1,1)"}},
                 .formula = "d = a @ b"};
  struct Case {
    float a, d;
    bool right;
  };
  constexpr Case kCases[] = {{1 + 0x1p-11f, 1 + 0x1p-10f, true},
                             {1 + 0x1p-11f, 1, true},
                             {1 + 0x1p-11f, 1 + 0x1p-8f, false},
                             {1 + 0x1.002p-11f, 1 + 0x1p-10f, true},
                             {1 + 0x1.002p-11f, 1, false}};
  for (Case c : kCases) {
    float one = 1;
    const std::vector<const void*> actual = {nullptr, nullptr, &c.d};
    const Verification verified = verify(op, {.tensors = {&c.a, &one, nullptr}}, actual);
    EXPECT_EQ(verified.passed, c.right) << c.a << " " << c.d;
  }
}

struct StepCase {
  const char* name;
  std::vector<Tensor> tensors;
  const char* formula;
  std::vector<std::int64_t> shape;  ///< of the output that is checked, the last tensor
  double (*want)(CaseInMemory& test, std::int64_t i, std::int64_t j);
};

double dot(CaseInMemory& test, std::size_t a, std::size_t b, std::int64_t i, std::int64_t j,
           std::int64_t count) {
  double sum = 0;
  for (std::int64_t k = 0; k < count; ++k) sum += test.at(a, {i, k}) * test.at(b, {k, j});
  return sum;
}

TEST(Products, StandBesideEverythingElse) {
  const StepCase cases[] = {
      {"bias and gelu",
       {{"a", f64, "(4,6)"}, {"b", f64, "(6,5)"}, {"bias", f64, "5"}, {"d", f64, "(4,5)"}},
       "d = gelu(a @ b + bias)",
       {4, 5},
       [](CaseInMemory& t, std::int64_t i, std::int64_t j) {
         const double x = dot(t, 0, 1, i, j, 6) + t.at(2, {i, j});
         return 0.5 * x * (1 + std::erf(x / std::sqrt(2)));
       }},
      {"a norm before, a sum after",
       {{"x", f64, "(4,6)"}, {"g", f64, "6"}, {"w", f64, "(6,6)"}, {"y", f64, "(4,6)"}},
       "h = x * rsqrt(mean(x * x) + 1) * g; y = h @ w + x",
       {4, 6},
       [](CaseInMemory& t, std::int64_t i, std::int64_t j) {
         double squares = 0, sum = 0;
         for (std::int64_t k = 0; k < 6; ++k) squares += t.at(0, {i, k}) * t.at(0, {i, k});
         const double scale = 1 / std::sqrt(squares / 6 + 1);
         for (std::int64_t k = 0; k < 6; ++k)
           sum += t.at(0, {i, k}) * scale * t.at(1, {i, k}) * t.at(2, {k, j});
         return sum + t.at(0, {i, j});
       }},
      {"a chain",
       {{"x", f64, "(4,6)"},
        {"w", f64, "(6,5)"},
        {"a", f64, "(6,2)"},
        {"b", f64, "(2,5)"},
        {"y", f64, "(4,5)"}},
       "y = x @ w + (x @ a) @ b",
       {4, 5},
       [](CaseInMemory& t, std::int64_t i, std::int64_t j) {
         double sum = dot(t, 0, 1, i, j, 6);
         for (std::int64_t r = 0; r < 2; ++r) sum += dot(t, 0, 2, i, r, 6) * t.at(3, {r, j});
         return sum;
       }},
      {"softmax of scores",
       {{"q", f64, "(4,3)"}, {"k", f64, "(6,3)"}, {"v", f64, "(6,5)"}, {"y", f64, "(4,5)"}},
       "s = q @ k.T; e = exp(s - max(s)); y = (e / sum(e)) @ v",
       {4, 5},
       [](CaseInMemory& t, std::int64_t i, std::int64_t j) {
         double total = 0, sum = 0;
         for (std::int64_t l = 0; l < 6; ++l) {
           double score = 0;
           for (std::int64_t k = 0; k < 3; ++k) score += t.at(0, {i, k}) * t.at(1, {l, k});
           total += std::exp(score);
           sum += std::exp(score) * t.at(2, {l, j});
         }
         return sum / total;
       }},
      {"an output read as a tensor",
       {{"a", f64, "(4,6)"},
        {"b", f64, "(6,5)"},
        {"c", f64, "(5,3)"},
        {"h", f64, "(4,5)"},
        {"y", f64, "(4,3)"}},
       "h = relu(a @ b); y = h @ c",
       {4, 3},
       [](CaseInMemory& t, std::int64_t i, std::int64_t j) {
         double sum = 0;
         for (std::int64_t k = 0; k < 5; ++k)
           sum += std::max(dot(t, 0, 1, i, k, 6), 0.0) * t.at(2, {k, j});
         return sum;
       }},
      {"sums of rows",
       {{"a", f64, "(4,6)"}, {"b", f64, "(6,5)"}, {"y", f64, "4"}},
       "y = sum(a @ b)",
       {1, 4},
       [](CaseInMemory& t, std::int64_t, std::int64_t j) {
         double sum = 0;
         for (std::int64_t n = 0; n < 5; ++n) sum += dot(t, 0, 1, j, n, 6);
         return sum;
       }},
      {"a lower triangle",
       {{"a", f64, "(5,6)"}, {"b", f64, "(6,5)"}, {"y", f64, "(5,5)"}},
       "y = where(iota(0) >= iota(1), a @ b, 0)",
       {5, 5},
       [](CaseInMemory& t, std::int64_t i, std::int64_t j) {
         return i >= j ? dot(t, 0, 1, i, j, 6) : 0;
       }},
      {"one tensor twice",
       {{"x", f64, "(5,4)"}, {"y", f64, "(4,4)"}},
       "y = x.T @ x",
       {4, 4},
       [](CaseInMemory& t, std::int64_t i, std::int64_t j) {
         double sum = 0;
         for (std::int64_t k = 0; k < 5; ++k) sum += t.at(0, {k, i}) * t.at(0, {k, j});
         return sum;
       }},
      {"a product that repeats",
       {{"a", f64, "(1,6)"}, {"b", f64, "(6,5)"}, {"c", f64, "(4,5)"}, {"y", f64, "(4,5)"}},
       "y = a @ b + c",
       {4, 5},
       [](CaseInMemory& t, std::int64_t i, std::int64_t j) {
         return dot(t, 0, 1, 0, j, 6) + t.at(2, {i, j});
       }},
      {"a transposed tensor without a product",
       {{"x", f64, "(4,4)"}, {"y", f64, "(4,4)"}},
       "y = x + x.T",
       {4, 4},
       [](CaseInMemory& t, std::int64_t i, std::int64_t j) {
         return t.at(0, {i, j}) + t.at(0, {j, i});
       }},
  };
  test::Random random(2);
  for (const StepCase& c : cases) {
    SCOPED_TRACE(c.name);
    CaseInMemory test({.tensors = c.tensors, .formula = c.formula});
    test.fill_reals(random);
    test.evaluate();
    const Verification verified = test.verify();
    EXPECT_TRUE(verified.passed) << verified.first_mismatch;
    for (std::int64_t i = 0; i < c.shape[0]; ++i) {
      for (std::int64_t j = 0; j < c.shape[1]; ++j)
        ASSERT_NEAR(test.at(c.tensors.size() - 1, {i, j}), c.want(test, i, j), 1e-12)
            << i << "," << j;
    }
  }
}

// What a formula replaces is read before, wherever its old value stands.
TEST(Products, ReadOldValuesBeforeTheyAreReplaced) {
  struct Row {
    const char* formula;
    double (*want)(CaseInMemory& before, std::int64_t i, std::int64_t j);
  };
  const Row rows[] = {
      {"x = x @ w",
       [](CaseInMemory& t, std::int64_t i, std::int64_t j) { return dot(t, 0, 1, i, j, 4); }},
      {"t = x * 2; x = relu(x); y = x @ w + t",
       [](CaseInMemory& t, std::int64_t i, std::int64_t j) {
         return std::max(t.at(0, {i, j}), 0.0);
       }},
      {"t = x + 1; x = t @ w + x; y = t @ x",
       [](CaseInMemory& t, std::int64_t i, std::int64_t j) {
         double sum = t.at(0, {i, j});
         for (std::int64_t k = 0; k < 4; ++k) sum += (t.at(0, {i, k}) + 1) * t.at(1, {k, j});
         return sum;
       }},
      {"x = x + x.T; y = x @ w",
       [](CaseInMemory& t, std::int64_t i, std::int64_t j) {
         return t.at(0, {i, j}) + t.at(0, {j, i});
       }},
      {"x = w.T @ x + x.T",
       [](CaseInMemory& t, std::int64_t i, std::int64_t j) {
         double sum = t.at(0, {j, i});
         for (std::int64_t k = 0; k < 4; ++k) sum += t.at(1, {k, i}) * t.at(0, {k, j});
         return sum;
       }},
  };
  test::Random random(3);
  for (const Row& row : rows) {
    SCOPED_TRACE(row.formula);
    Fused op{.tensors = {{.name = "x", .dtype = f64, .layout = "(4,4)", .access = Access::inout},
                         {"w", f64, "(4,4)"}},
             .formula = row.formula};
    const bool has_y = op.formula.find("y = ") != std::string::npos;
    if (has_y) op.tensors.push_back({"y", f64, "(4,4)"});
    CaseInMemory test(op);
    test.fill_reals(random);
    CaseInMemory before = test;
    test.evaluate();
    for (std::int64_t i = 0; i < 4; ++i) {
      for (std::int64_t j = 0; j < 4; ++j)
        ASSERT_NEAR(test.at(0, {i, j}), row.want(before, i, j), 1e-12) << i << "," << j;
    }
    const Verification verified = test.verify();
    EXPECT_TRUE(verified.passed) << verified.first_mismatch;
  }
}

}  // namespace
}  // namespace tilejit
