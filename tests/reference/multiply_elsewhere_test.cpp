// Verification whose products of f64 are multiplied by a function of the caller's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/random_case.hpp"
#include "tilejit/error.hpp"
#include "tilejit/reference.hpp"

namespace tilejit {
namespace {

using test::GuardedTensor;

/// Multiplies as VerifyOptions::multiply should, from the last place of K to the first.
void multiply_backwards(const RealMatrices& x) {
  for (std::int64_t b = 0; b < x.batches; ++b) {
    for (std::int64_t m = 0; m < x.m; ++m) {
      const double* const left = x.left.data() + (b * x.m + m) * x.k;
      for (std::int64_t n = 0; n < x.n; ++n) {
        const double* const right = x.right.data() + (b * x.n + n) * x.k;
        double sum = 0;
        for (std::int64_t k = x.k; k-- > 0;) sum += left[k] * right[k];
        x.sums[static_cast<std::size_t>((b * x.m + m) * x.n + n)] = sum;
      }
    }
  }
}

/// An operation whose outputs the CPU has computed.
class Evaluated {
 public:
  explicit Evaluated(Fused op) : op_(std::move(op)) {
    test::Random random(3);
    for (const Tensor& tensor : op_.tensors) {
      memory_.emplace_back(tensor, SymbolValues());
      memory_.back().fill(random);
    }
  }

  void evaluate() { tilejit::evaluate(Operation(op_), arguments()); }
  [[nodiscard]] Verification verify(const MultiplyReals& multiply) {
    std::vector<const void*> actual;
    for (GuardedTensor& one : memory_) actual.push_back(one.data());
    return tilejit::verify(Operation(op_), arguments(), actual, {.multiply = multiply});
  }
  void set(std::size_t tensor, std::int64_t at, double value) {
    const DType dtype = op_.tensors[tensor].dtype;
    encode(dtype, value, memory_[tensor].data() + at * size_bytes(dtype));
  }
  [[nodiscard]] std::int64_t elements() const { return size(op_.tensors.back().layout).value(); }

 private:
  [[nodiscard]] HostArguments arguments() {
    HostArguments args;
    for (GuardedTensor& one : memory_) args.tensors.push_back(one.data());
    return args;
  }

  Fused op_;
  std::vector<GuardedTensor> memory_;
};

// Each has more than 2^26 products of elements.
const Fused kManyProducts[] = {
    {.name = "odd_sums_and_batches",
     .tensors = {{"a", f16, "(3,210,401)"},
                 {"b", f16, "(401,300):(1,401)"},
                 {"d", f32, "(3,210,300)"}},
     .formula = "d = a @ b + 1"},
    {.name = "bytes_without_rounding",
     .tensors = {{"a", i8, "(420,400)"}, {"b", u8, "(400,410)"}, {"d", i32, "(420,410)"}},
     .formula = "d = a @ b"},
    {.name = "operand_that_was_rounded",
     .tensors = {{"a", f32, "(410,420)"}, {"b", bf16, "(420,400)"}, {"d", bf16, "(410,400)"}},
     .formula = "d = bf16(exp(a)) @ b"},
};

TEST(MultiplyElsewhere, ComparesEveryElement) {
  for (const Fused& op : kManyProducts) {
    SCOPED_TRACE(op.name);
    Evaluated test(op);
    test.evaluate();
    int calls = 0;
    const auto multiply = [&](const RealMatrices& matrices) {
      ++calls;
      EXPECT_EQ(matrices.k % 2, 0);
      multiply_backwards(matrices);
    };
    const Verification right = test.verify(multiply);
    EXPECT_TRUE(right.passed) << right.first_mismatch;
    EXPECT_EQ(right.elements, test.elements());
    EXPECT_EQ(calls, op.name.starts_with("operand") ? 3 : 2);
    test.set(2, test.elements() - 1, 9999);
    const Verification wrong = test.verify(multiply);
    EXPECT_EQ(wrong.mismatches, 1);
    EXPECT_THAT(wrong.first_mismatch, testing::HasSubstr("got 99"));
  }
}

TEST(MultiplyElsewhere, TakesWhatIsNotFinite) {
  Evaluated test(kManyProducts[0]);
  test.set(0, 17 * 401 + 5, NAN);
  test.set(0, 211 * 401, INFINITY);
  test.evaluate();
  const Verification verified = test.verify(multiply_backwards);
  EXPECT_TRUE(verified.passed) << verified.first_mismatch;
  test.set(2, 17 * 300, 0);
  EXPECT_EQ(test.verify(multiply_backwards).mismatches, 1);
}

TEST(MultiplyElsewhere, ChecksTheSums) {
  Evaluated test(kManyProducts[0]);
  test.evaluate();
  const auto spoilt = [](std::size_t at, double by) {
    return [=](const RealMatrices& matrices) {
      multiply_backwards(matrices);
      matrices.sums[at] += by;
    };
  };
  for (const double by : {1e-3, -100.0, static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    SCOPED_TRACE(by);
    try {
      (void)test.verify(spoilt((210 + 9) * 300 + 7, by));
      ADD_FAILURE() << "took a wrong sum";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_THAT(error.what(), testing::HasSubstr("wrong sums in row 9 of batch 1"));
    }
  }
}

TEST(MultiplyElsewhere, LeavesSmallProductsToTheCpu) {
  Evaluated test({.tensors = {{"a", f32, "(64,64)"}, {"b", f32, "(64,64)"}, {"d", f32, "(64,64)"}},
                  .formula = "d = a @ b"});
  test.evaluate();
  EXPECT_TRUE(test.verify([](const RealMatrices&) { ADD_FAILURE(); }).passed);
}

}  // namespace
}  // namespace tilejit
