#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <cstring>
#include <random>

#include "reference/device_emulator.hpp"
#include "reference/execute.hpp"
#include "reference/problem_builder.hpp"

namespace tilejit::reference {
namespace {

using expr::Op;
using testing::HasSubstr;

struct FormulaCase {
  const char* formula;  // of inputs x, z (floating), i, j (i32) and scalar s; writes y
  DType dtype;          // of x, z and y
  double min, max;      // of x and z
};
constexpr FormulaCase kFormulas[] = {
    {"y = x + z", f32, -10, 10},
    {"y = x + z", f16, -10, 10},
    {"y = x * z - x", bf16, -10, 10},
    {"y = x / z", f32, -10, 10},
    {"y = (x - z) / (x + z)", f32, -10, 10},
    {"y = x * s + z", f32, -10, 10},
    {"y = x // z", f32, -100, 100},
    {"y = x % z", f32, -100, 100},
    {"y = x // 0.1", f64, -100, 100},
    {"y = x ** 3 + z ** 2", f32, -4, 4},
    {"y = abs(x) ** z", f32, -4, 4},
    {"y = exp(x) * exp2(z)", f32, -60, 60},
    {"y = exp(x - max(x, z))", f32, -10, 10},
    {"y = log(x) + log2(z)", f32, -1, 100},
    {"y = log(1 + exp(x))", f32, -100, 100},
    {"y = sqrt(x) * rsqrt(z)", f32, -0.1, 100},
    {"y = sqrt(x * x + z * z)", f16, -10, 10},
    {"y = sin(x) * cos(z)", f32, -1000, 1000},
    {"y = sin(x * z)", f32, -100, 100},
    {"y = tan(x)", f32, -10, 10},
    {"y = tanh(x) + erf(z)", f32, -4, 4},
    {"y = sigmoid(x) * silu(z)", f32, -100, 100},
    {"y = silu(x)", f16, -30, 30},
    {"y = gelu(x + z) * s", f32, -4, 4},
    {"y = gelu(x)", bf16, -10, 10},
    {"y = gelu_tanh(x + z)", f32, -5, 5},
    {"y = gelu_tanh(x)", f64, -5, 5},
    {"y = asin(x / 10) + acos(z / 10.5)", f32, -10.1, 10.1},
    {"y = atan(x * z)", f32, -10, 10},
    {"y = atan2(x, z) + atan2(x + z, x - z)", f32, -10, 10},
    {"y = sinh(x) - cosh(z)", f32, -90, 90},
    {"y = log10(x) + log1p(z)", f32, -1.5, 100},
    {"y = expm1(x) * expm1(-z / 8)", f32, -10, 90},
    {"y = cbrt(x * z) + hypot(x, z)", f32, -100, 100},
    {"y = erfc(x) * erfc(-z)", f32, -4, 10},
    {"y = asin(x) + erfc(z)", f64, -1, 1},
    {"y = atan2(sinh(x), cbrt(z))", f64, -4, 4},
    {"y = log10(abs(x)) + hypot(x, z) * cosh(z)", f64, -4, 4},
    {"y = log1p(exp(-abs(x))) + expm1(z)", bf16, -10, 10},
    {"y = copysign(x * z, x - z)", f32, -4, 4},
    {"y = trunc(x * 3) + trunc(z / 7)", f32, -10, 10},
    {"y = fma(x, z, -x * z)", f32, -10, 10},
    {"y = fma(x, z, s)", f64, -10, 10},
    {"y = fma(x, z, x)", f16, -10, 10},
    {"y = fma(i, j, 3) + sign(j) + x", f32, -10, 10},
    {"y = sign(x - z) * sign(i)", f32, -2, 2},
    {"y = where(isnan(log(x)), 1, where(isinf(exp(z)), 2, 3))", f32, -100, 100},
    {"y = where(isnan(i) or isinf(j), x, z)", f32, -10, 10},
    {"y = floor(x * 3) + ceil(z / 7) - round(x + z)", f32, -10, 10},
    {"y = where(x * z > s, x, -z)", f32, -4, 4},
    {"y = where(x > z, x / z, exp(z))", f64, -4, 4},
    {"y = clamp(x, -1, 1) + relu(z)", f16, -4, 4},
    {"y = min(x, z) * max(x, 0.3)", f32, -4, 4},
    {"y = f32(f16(x)) * z", f32, -10, 10},
    {"y = f8e4m3(x * z)", f8e4m3, -30, 30},
    {"y = f8e5m2(x) ", f8e5m2, -1e5, 1e5},
    {"y = x * 1e-30 * z * 1e-12", f32, -1, 1},
    {"y = x * 1e30 * z * 1e9 / (1e20 + x)", f32, -1, 1},
    {"y = i32(x * 100) // 7 + z", f32, -10, 10},
    {"y = (i + j) * 3 // (j - 2) + x", f32, -10, 10},
    {"y = i / j + x", f32, -10, 10},
    {"y = log(abs(x)) / (x - z)", f64, -10, 10},
};

// The tensors among x, z, i and j that the formula names, contiguous, with random values; and y.
class FormulaProblem {
 public:
  FormulaProblem(const FormulaCase& c, std::int64_t count)
      : formula_(c.formula), builder_({count}) {
    add("x", c.dtype, std::uniform_real_distribution<double>(c.min, c.max));
    add("z", c.dtype, std::uniform_real_distribution<double>(c.min, c.max));
    add("i", i32, std::uniform_int_distribution<int>(-1000, 1000));
    add("j", i32, std::uniform_int_distribution<int>(-1000, 1000));
    y_ = builder_.tensor("y", c.dtype, {{{count, 1}}}, count);
    expr::Scope scope;
    for (const TensorView& tensor : builder_.problem().tensors) {
      scope.tensors.push_back({tensor.name, tensor.dtype});
    }
    if (names("s")) {
      scope.scalars.push_back({"s", f32});
      builder_.scalar(0.7);
    }
    problem_ = builder_.problem();
    problem_.program = expr::compile_formula(c.formula, scope);
  }

  /// Writes y as a device would.
  void emulate() {
    DeviceEmulator device(problem_);
    std::vector<void*> out;
    for (const TensorView& tensor : problem_.tensors) out.push_back(tensor.data);
    for (std::int64_t k = 0; k < problem_.shape[0]; ++k) device.run(k, out);
  }
  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const TensorView& output() const { return problem_.tensors[y_]; }
  [[nodiscard]] Verification verify() const {
    return reference::verify(problem_, builder_.memory());
  }
  [[nodiscard]] double get(std::size_t k) { return builder_.get(y_, k); }
  void set(std::size_t k, double value) { builder_.set(y_, k, value); }

 private:
  // True if the name occurs as a whole word.
  [[nodiscard]] bool names(const std::string& name) const {
    const auto in_word = [&](std::size_t at) {
      return at < formula_.size() && std::isalnum(static_cast<unsigned char>(formula_[at])) != 0;
    };
    for (auto at = formula_.find(name); at != std::string::npos; at = formula_.find(name, at + 1)) {
      if (!in_word(at - 1) && !in_word(at + name.size())) return true;
    }
    return false;
  }
  template <typename Distribution>
  void add(const std::string& name, DType dtype, Distribution values) {
    if (!names(name)) return;
    const std::int64_t count = builder_.problem().shape[0];
    const int tensor = builder_.tensor(name, dtype, {{{count, 1}}}, count);
    for (std::int64_t k = 0; k < count; ++k) builder_.set(tensor, k, values(random_));
  }

  std::string formula_;
  ProblemBuilder builder_;
  Problem problem_;
  int y_ = -1;
  std::mt19937_64 random_{11};
};

TEST(Verify, AcceptsSinglePrecisionArithmetic) {
  for (const FormulaCase& c : kFormulas) {
    SCOPED_TRACE(std::string(c.formula) + " in " + std::string(to_string(c.dtype)));
    FormulaProblem problem(c, 100000);
    problem.emulate();
    const Verification result = problem.verify();
    EXPECT_TRUE(result.passed) << result.mismatches << " mismatches, " << result.first_mismatch;
    EXPECT_EQ(result.elements, 100000);
    EXPECT_LE(result.max_ratio, 1);
  }
}

TEST(Verify, AcceptsTheReferenceItself) {
  for (const FormulaCase& c : kFormulas) {
    SCOPED_TRACE(std::string(c.formula) + " in " + std::string(to_string(c.dtype)));
    FormulaProblem problem(c, 10000);
    evaluate(problem.problem());
    const Verification result = problem.verify();
    EXPECT_TRUE(result.passed) << result.mismatches << " mismatches, " << result.first_mismatch;
  }
}

// A value 4 ulps of its dtype away, in element 4321 only.
struct PerturbedCase {
  const char* formula;
  DType dtype;
  double ulp;  // at 1
};
constexpr PerturbedCase kPerturbed[] = {
    {"y = x + z", f32, 0x1p-23},       {"y = x + z", f16, 0x1p-10},
    {"y = x + z", bf16, 0x1p-7},       {"y = x + z", f64, 0x1p-52},
    {"y = x * z", f32, 0x1p-23},       {"y = x", f32, 0x1p-25},
    {"y = sqrt(x)", f32, 0x1p-23},     {"y = x / z", f32, 0x1p-23},
    {"y = relu(x) * s", bf16, 0x1p-7}, {"y = gelu(x)", f16, 0x1p-10},
    {"y = x + z", f8e4m3, 0x1p-3},     {"y = where(x > 0, x, z)", f32, 0x1p-25},
};

TEST(Verify, RejectsFourUlps) {
  for (const PerturbedCase& c : kPerturbed) {
    SCOPED_TRACE(std::string(c.formula) + " in " + std::string(to_string(c.dtype)));
    FormulaProblem problem({c.formula, c.dtype, 1, 2}, 10000);
    problem.emulate();
    ASSERT_TRUE(problem.verify().passed);
    problem.set(
        4321, problem.get(4321) + 4 * c.ulp * std::exp2(std::floor(std::log2(problem.get(4321)))));
    const Verification result = problem.verify();
    EXPECT_FALSE(result.passed);
    EXPECT_EQ(result.mismatches, 1);
    EXPECT_GT(result.max_ratio, 1);
    EXPECT_THAT(result.first_mismatch, HasSubstr("y(4321): got "));
  }
}

TEST(Verify, RejectsNan) {
  FormulaProblem problem({"y = x + z", f32, 1, 2}, 1000);
  problem.emulate();
  problem.set(77, kNan);
  const Verification result = problem.verify();
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.mismatches, 1);
  EXPECT_TRUE(std::isinf(result.max_error));
  EXPECT_THAT(result.first_mismatch, HasSubstr("y(77): got nan, want "));
}

TEST(Verify, RejectsOneWrongInteger) {
  FormulaProblem problem({"y = i * 3 + j", i32, 0, 1}, 1000);
  problem.emulate();
  EXPECT_TRUE(problem.verify().passed);
  EXPECT_EQ(problem.verify().max_error, 0);
  const double right = problem.get(5);
  problem.set(5, right + 1);
  const Verification result = problem.verify();
  EXPECT_EQ(result.mismatches, 1);
  EXPECT_EQ(result.max_error, 1);
  EXPECT_TRUE(std::isinf(result.max_ratio));
  const auto text = [](double value) { return std::to_string(static_cast<int>(value)); };
  EXPECT_EQ(result.first_mismatch, "y(5): got " + text(right + 1) + ", want " + text(right));
}

TEST(Verify, RejectsABoolThatIsNeitherZeroNorOne) {
  FormulaProblem problem({"y = i > j", b8, 0, 1}, 100);
  problem.emulate();
  EXPECT_TRUE(problem.verify().passed);
  std::memset(static_cast<std::byte*>(problem.output().data) + 9, 0xff, 1);
  EXPECT_THAT(problem.verify().first_mismatch, HasSubstr("y(9): got 255, want "));
}

// Over ranges of several threads and two outputs: the lowest coordinate is reported, every time.
TEST(Verify, TellsTheFirstMismatchInRowMajorOrder) {
  ProblemBuilder builder({600, 700});
  const std::vector<ModeLeaves> row_major = {{{600, 700}}, {{700, 1}}};
  const std::vector<ModeLeaves> column_major = {{{600, 1}}, {{700, 600}}};
  const int x = builder.tensor("x", f32, row_major, 420000);
  const int y = builder.tensor("y", f32, row_major, 420000);
  const int w = builder.tensor("w", f32, column_major, 420000);
  const expr::NodeId loaded = builder.load(x);
  builder.store(y, loaded);
  builder.store(w, loaded);
  EXPECT_TRUE(verify(builder.problem(), builder.memory()).passed);
  builder.set(y, 599 * 700 + 3, 1);
  builder.set(y, 2 * 700 + 8, 1);
  builder.set(w, 7 * 600 + 2, 0.5);  // (2,7)
  const Verification result = verify(builder.problem(), builder.memory());
  EXPECT_EQ(result.elements, 840000);
  EXPECT_EQ(result.mismatches, 3);
  EXPECT_EQ(result.max_error, 1);
  EXPECT_EQ(result.first_mismatch, "w(2,7): got 0.5, want 0");
}

TEST(Verify, PassesAnEmptySpace) {
  ProblemBuilder builder({4, 0});
  const int x = builder.tensor("x", f32, {{{4, 1}}, {{0, 1}}}, 0);
  builder.store(x, builder.load(x));
  const Verification result = verify(builder.problem(), builder.memory());
  EXPECT_TRUE(result.passed);
  EXPECT_EQ(result.elements, 0);
}

// An interval around a step of floor, and a comparison that rounding decides: both neighbours pass.
TEST(Verify, AcceptsEitherSideOfAnUncertainStep) {
  FormulaProblem problem({"y = floor(x * 0.1 * 10)", f32, 3, 3}, 4);
  problem.set(0, 2);
  problem.set(1, 3);
  problem.set(2, 5);
  problem.set(3, 3);
  EXPECT_EQ(problem.verify().mismatches, 1);
  EXPECT_THAT(problem.verify().first_mismatch, HasSubstr("y(2): got 5"));
}

}  // namespace
}  // namespace tilejit::reference
