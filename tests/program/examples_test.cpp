// Programs with products, against references written independently, in double.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "program/example.hpp"
#include "program/host_program.hpp"

namespace tilejit::program {
namespace {

/// Values of f16, from -1 to 1.
std::vector<double> random_values(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (double& value : values) value = (static_cast<int>(random() % 2049) - 1024) / 1024.0;
  return values;
}

/// The largest rounding of a result of `magnitude` to f16.
double f16_rounding(double magnitude) {
  return std::ldexp(std::max(magnitude, std::ldexp(1.0, -14)), -11);
}

double rounded(DType dtype, double value) {
  std::byte bytes[8];
  encode(dtype, value, bytes);
  return decode(dtype, bytes);
}

TEST(Examples, VectorAddIsExact) {
  for (const std::int64_t n : {1, 1023, 1024, 1025, 4097}) {
    HostProgram program(example("vector_add.tl"), {{"N", n}});
    const auto a = random_values(n, 1);
    const auto b = random_values(n, 2);
    program.set("A", a).set("B", b).run();
    const auto c = program.get("C");
    for (std::size_t i = 0; i < c.size(); ++i) ASSERT_EQ(c[i], rounded(f16, a[i] + b[i])) << n;
  }
}

struct Sizes {
  std::int64_t m, n, k;
};

TEST(Examples, GemmWithBiasAndGelu) {
  for (const auto& [m, n, k] : {Sizes{128, 128, 64}, Sizes{130, 70, 33}, Sizes{1, 257, 200}}) {
    HostProgram program(example("gemm_bias_gelu.tl"), {{"M", m}, {"N", n}, {"K", k}}, {0.5});
    const auto a = random_values(m * k, 1);
    const auto b = random_values(k * n, 2);
    const auto bias = random_values(n, 3);
    program.set("A", a).set("B", b).set("bias", bias).run();
    const auto d = program.get("D");
    for (std::int64_t row = 0; row < m; ++row) {
      for (std::int64_t column = 0; column < n; ++column) {
        double sum = 0;
        for (std::int64_t i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
        const double x = 0.5 * sum + bias[column];
        const double want = 0.5 * x * std::erfc(-x / std::sqrt(2.0));
        // f16 rounds the result; f32 rounds sums of k products per tile, and some steps after it.
        const double tolerance = f16_rounding(std::fabs(want)) +
                                 std::ldexp(static_cast<double>(k + 8) * (1 + std::fabs(x)), -24);
        ASSERT_TRUE(std::fabs(d[row * n + column] - want) <= tolerance)
            << m << ' ' << n << ' ' << k << " at " << row << ',' << column;
      }
    }
  }
}

/// A product of `z` matrices each, of bf16 or f16 summed in f32.
void expect_product(const char* name, DType dtype, std::int64_t z, const Sizes& sizes) {
  const auto [m, n, k] = sizes;
  SymbolValues symbols = {{"M", m}, {"N", n}, {"K", k}};
  if (z > 0) symbols["Z"] = z;
  HostProgram program(example(name), symbols);
  const std::int64_t batches = std::max<std::int64_t>(z, 1);
  auto a = random_values(batches * m * k, 1), b = random_values(batches * k * n, 2);
  for (double& value : a) value = rounded(dtype, value);
  for (double& value : b) value = rounded(dtype, value);
  program.set("A", a).set("B", b).run();
  const auto c = program.get("C");
  for (std::int64_t i = 0; i < batches * m * n; ++i) {
    const std::int64_t batch = i / (m * n), row = i / n % m, column = i % n;
    double sum = 0, magnitude = 0;
    for (std::int64_t j = 0; j < k; ++j) {
      const double product = a[(batch * m + row) * k + j] * b[(batch * k + j) * n + column];
      sum += product;
      magnitude += std::fabs(product);
    }
    // f32 rounds each of k sums, the result is rounded to 11 or 8 bits.
    const double tolerance =
        std::ldexp(static_cast<double>(k) * magnitude, -24) +
        std::ldexp(std::max(std::fabs(sum), std::ldexp(1.0, -14)), dtype == f16 ? -11 : -8);
    ASSERT_TRUE(std::fabs(c[i] - sum) <= tolerance)
        << name << ' ' << m << ' ' << n << ' ' << k << " at " << i << ": " << c[i] << ", " << sum;
  }
}

TEST(Examples, Matmul) {
  for (const Sizes& sizes : {Sizes{128, 128, 64}, Sizes{130, 70, 100}, Sizes{1, 129, 1}})
    expect_product("matmul.tl", bf16, 0, sizes);
}

TEST(Examples, BatchedMatmul) {
  expect_product("batched_matmul.tl", f16, 3, {70, 50, 40});
  expect_product("batched_matmul.tl", f16, 1, {64, 65, 32});
}

struct Attention {
  std::int64_t z, hq, hk, sq, sk;
};

/// One row of attention, in double; the number of keys that it sees.
std::int64_t attention_row(const Attention& s, const std::vector<double>& q,
                           const std::vector<double>& k, const std::vector<double>& v,
                           std::int64_t head, std::int64_t row, std::vector<double>& out) {
  constexpr std::int64_t kD = 64;
  const std::int64_t batch = head / s.hq;
  const std::int64_t kv = batch * s.hk + head % s.hq / (s.hq / s.hk);
  const std::int64_t seen = std::clamp<std::int64_t>(row + 1 + s.sk - s.sq, 0, s.sk);
  std::vector<double> scores(static_cast<std::size_t>(seen));
  double largest = -std::numeric_limits<double>::infinity();
  for (std::int64_t j = 0; j < seen; ++j) {
    for (std::int64_t i = 0; i < kD; ++i) {
      scores[j] += 0.125 * q[(head * s.sq + row) * kD + i] * k[(kv * s.sk + j) * kD + i];
    }
    largest = std::max(largest, scores[j]);
  }
  double total = 0;
  for (double& score : scores) total += score = std::exp(score - largest);
  out.assign(kD, 0);
  for (std::int64_t j = 0; j < seen; ++j) {
    for (std::int64_t i = 0; i < kD; ++i) {
      out[i] += scores[j] / total * v[(kv * s.sk + j) * kD + i];
    }
  }
  return seen;
}

TEST(Examples, FlashAttention) {
  for (const Attention& s : {Attention{1, 2, 1, 64, 64}, Attention{2, 4, 2, 50, 77},
                             Attention{1, 2, 2, 1, 130}, Attention{1, 1, 1, 70, 40}}) {
    HostProgram program(example("flash_attention.tl"),
                        {{"Z", s.z}, {"Hq", s.hq}, {"Hk", s.hk}, {"Sq", s.sq}, {"Sk", s.sk}},
                        {0.125});
    const auto q = random_values(s.z * s.hq * s.sq * 64, 1);
    const auto k = random_values(s.z * s.hk * s.sk * 64, 2);
    const auto v = random_values(s.z * s.hk * s.sk * 64, 3);
    program.set("Q", q).set("K", k).set("V", v).run();
    const auto o = program.get("O");
    std::vector<double> want;
    for (std::int64_t head = 0; head < s.z * s.hq; ++head) {
      for (std::int64_t row = 0; row < s.sq; ++row) {
        (void)attention_row(s, q, k, v, head, row, want);
        for (std::int64_t i = 0; i < 64; ++i) {
          // Probabilities are rounded to f16 before they weigh values of at most 1, and the result.
          const double tolerance = f16_rounding(1) + f16_rounding(std::fabs(want[i])) +
                                   std::ldexp(static_cast<double>(s.sk), -20);
          ASSERT_TRUE(std::fabs(o[(head * s.sq + row) * 64 + i] - want[i]) <= tolerance)
              << s.sq << ' ' << s.sk << " head " << head << " row " << row << " column " << i;
        }
      }
    }
  }
}

TEST(Examples, OperationsOfProgramsEvaluateAndVerify) {
  const Operation op = parse_operation(example("vector_add.tl"));
  EXPECT_EQ(op.name(), "vector_add");
  EXPECT_EQ(resolve_access(op), (std::vector<Access>{Access::in, Access::in, Access::out}));
  EXPECT_EQ(parse_operation(to_json(op)), op);
  ASSERT_NE(tile_program(op), nullptr);
  HostProgram program(example("vector_add.tl"), {{"N", 100}});
  program.set("A", random_values(100, 1)).set("B", random_values(100, 2));
  evaluate(op, program.arguments());
  const std::vector<const void*> actual(program.arguments().tensors.begin(),
                                        program.arguments().tensors.end());
  EXPECT_TRUE(verify(op, program.arguments(), actual).passed);
  program.set("C", std::vector<double>(100, 5));
  EXPECT_FALSE(verify(op, program.arguments(), actual).passed);
}

}  // namespace
}  // namespace tilejit::program
