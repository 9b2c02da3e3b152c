// Random programs over 4 by 4 matrices, with products wherever a value may stand, against matrices
// that are computed along with the text: spaces, steps, their order, old and new values. Each has
// a plan, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "render/render.hpp"
#include "support/random_case.hpp"
#include "tilejit/error.hpp"
#include "tilejit/reference.hpp"

namespace tilejit {
namespace {

constexpr std::size_t kSide = 4;
using Matrix = std::array<double, kSide * kSide>;

/// A text and its value.
struct Written {
  std::string text;
  Matrix value = {};
};

template <class F>
Matrix each(const F& f) {
  Matrix m;
  for (std::size_t i = 0; i < m.size(); ++i) m[i] = f(i / kSide, i % kSide);
  return m;
}

Matrix transposed(const Matrix& x) {
  return each([&](std::size_t i, std::size_t j) { return x[j * kSide + i]; });
}

class ProgramWriter {
 public:
  explicit ProgramWriter(test::Random& random) : random_(random) {
    std::uniform_real_distribution<double> real(-1, 1);
    for (const char* name : {"a", "b", "x", "v"})
      tensors_[name] = each([&](std::size_t, std::size_t) { return real(random_); });
    before_ = tensors_;
    readable_ = {"a", "b", "x", "v"};
  }

  void run() {
    std::vector<std::string> outputs = {"x", "y", "z", "v", "u"};
    std::ranges::shuffle(outputs, random_);
    for (const std::string& output : outputs) {
      if (chance(40)) {
        const std::string name = "t" + std::to_string(temporaries_.size());
        const Written value = expression(2);
        formula_ += name + " = " + value.text + "\n";
        temporaries_[name] = value.value;
      }
      const Written value = expression(3);
      formula_ += output + " = " + value.text + "\n";
      tensors_[output] = value.value;
      readable_.push_back(output);
    }
    // Every tensor takes part, and is read and written as declared.
    formula_ += "w = a + b + v + x + y + z + u\n";
    Matrix sum = {};
    for (const char* name : {"a", "b", "v", "x", "y", "z", "u"}) {
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += tensors_[name][i];
    }
    tensors_["w"] = sum;
  }

  [[nodiscard]] const std::string& formula() const { return formula_; }
  [[nodiscard]] const std::map<std::string, Matrix>& before() const { return before_; }
  [[nodiscard]] const std::map<std::string, Matrix>& after() const { return tensors_; }

 private:
  int pick(int last) { return std::uniform_int_distribution<int>(0, last)(random_); }
  bool chance(int percent) { return pick(99) < percent; }

  Written leaf() {
    if (!temporaries_.empty() && chance(25)) {
      auto at = temporaries_.begin();
      std::advance(at, pick(static_cast<int>(temporaries_.size()) - 1));
      return {at->first, at->second};
    }
    const std::string& name =
        readable_[static_cast<std::size_t>(pick(static_cast<int>(readable_.size()) - 1))];
    if (chance(20)) return {name + ".T", transposed(tensors_[name])};
    return {name, tensors_[name]};
  }

  Written binary(const char* op, const Written& a, const Written& b) {
    const Matrix value = each([&](std::size_t i, std::size_t j) {
      const double left = a.value[i * kSide + j], right = b.value[i * kSide + j];
      return *op == '+' ? left + right : *op == '-' ? left - right : left * right;
    });
    return {"(" + a.text + " " + op + " " + b.text + ")", value};
  }

  Written product(const Written& a, const Written& b) {
    const Matrix value = each([&](std::size_t i, std::size_t j) {
      double sum = 0;
      for (std::size_t k = 0; k < kSide; ++k)
        sum += a.value[i * kSide + k] * b.value[k * kSide + j];
      return 0.25 * sum;
    });
    return {"(0.25 * (" + a.text + " @ " + b.text + "))", value};
  }

  Written summed(const Written& a, bool columns) {
    const Matrix value = each([&](std::size_t i, std::size_t j) {
      double sum = 0;
      for (std::size_t k = 0; k < kSide; ++k)
        sum += columns ? a.value[k * kSide + j] : a.value[i * kSide + k];
      return 0.25 * sum;
    });
    return {"(0.25 * sum(" + a.text + (columns ? ", axis=0))" : "))"), value};
  }

  Written scanned(const Written& a) {
    const Matrix value = each([&](std::size_t i, std::size_t j) {
      double sum = 0;
      for (std::size_t k = 0; k <= j; ++k) sum += a.value[i * kSide + k];
      return 0.25 * sum;
    });
    return {"(0.25 * cumsum(" + a.text + ", axis=1))", value};
  }

  Written triangle(const Written& a, const Written& b) {
    const Matrix value = each([&](std::size_t i, std::size_t j) {
      return i >= j ? a.value[i * kSide + j] : b.value[i * kSide + j];
    });
    return {"where(iota(0) >= iota(1), " + a.text + ", " + b.text + ")", value};
  }

  Written tanh_of(const Written& a) {
    return {"tanh(" + a.text + ")",
            each([&](std::size_t i, std::size_t j) { return std::tanh(a.value[i * kSide + j]); })};
  }

  Written expression(int depth) {
    if (depth == 0 || chance(10)) return leaf();
    const Written a = expression(depth - 1);
    switch (pick(9)) {
      case 0: return summed(a, false);
      case 1: return summed(a, true);
      case 2: return chance(40) ? scanned(a) : tanh_of(a);
      case 3: return triangle(a, expression(depth - 1));
      case 4: return binary("+", a, expression(depth - 1));
      case 5: return binary("-", a, leaf());
      case 6: return binary("*", a, leaf());
      default: return product(a, expression(depth - 1));
    }
  }

  test::Random& random_;
  std::string formula_;
  std::map<std::string, Matrix> tensors_, before_, temporaries_;
  std::vector<std::string> readable_;  // tensors that have a value
};

TEST(ProductPrograms, DoWhatTheirTextSays) {
  const char* const asked = std::getenv("TILEJIT_TEST_CASES");
  const std::uint64_t count = asked == nullptr ? 300 : std::strtoull(asked, nullptr, 10);
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    test::Random random(seed);
    ProgramWriter program(random);
    program.run();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + program.formula());
    Fused op{.name = "program", .formula = program.formula()};
    std::vector<Matrix> memory, before;
    HostArguments args, inputs;
    for (const auto& [name, value] : program.after()) {
      const bool in_place = name == "x" || name == "v";
      op.tensors.push_back({.name = name,
                            .dtype = f64,
                            .layout = "(4,4)",
                            .access = in_place ? Access::inout : Access::automatic});
      const auto found = program.before().find(name);
      memory.push_back(found == program.before().end() ? Matrix{} : found->second);
    }
    before = memory;
    std::vector<const void*> actual;
    for (std::size_t t = 0; t < memory.size(); ++t) {
      args.tensors.push_back(memory[t].data());
      inputs.tensors.push_back(before[t].data());
      actual.push_back(memory[t].data());
    }
    try {
      const formula::Analysis analysis = formula::analyze(op);
      const plan::Plan plan = plan::make_plan(op, analysis, parse_target("sm_90a"));
      EXPECT_FALSE(render::render(plan).text.empty());
      evaluate(op, args);
      std::size_t t = 0;
      for (const auto& [name, value] : program.after()) {
        for (std::size_t i = 0; i < value.size(); ++i)
          ASSERT_NEAR(memory[t][i], value[i], 1e-11 * (1 + std::fabs(value[i])))
              << name << " " << i;
        ++t;
      }
      const Verification verified = verify(op, inputs, actual);
      EXPECT_TRUE(verified.passed) << verified.first_mismatch;
    } catch (const Error& error) {
      // Chains of reductions over different axes may take too many kernels, programs without a
      // product may read a tensor transposed and write it.
      EXPECT_EQ(error.code(), ErrorCode::unsupported) << error.what();
    } catch (const std::logic_error& bug) {
      ADD_FAILURE() << bug.what();
    }
  }
}

}  // namespace
}  // namespace tilejit
