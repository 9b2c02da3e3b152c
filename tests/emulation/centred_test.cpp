// Means, variances and norms of rows far from 0, by every family that can run on the CPU. The
// mean's rounding error used to be squared into the variance: the variance of a row of 3e7 was 4.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "emulation/emulated.hpp"

namespace tilejit::test {
namespace {

struct Family {
  const char* what;
  const char *x, *row;  // layouts: of x, and of tensors with one element per row
  std::vector<int> axis = {1};
  Tuning tuning = {};
  const char* y = "(x - m) * rsqrt(v + 1)";
};

// Lengths are not powers of two, which would make all sums of equal numbers exact.
const Family kFamilies[] = {
    {"a row a thread", "(40,3):(3,1)", "40:1"},
    {"held by a warp", "(9,250):(250,1)", "9:1"},
    {"held by a block", "(3,3001):(3001,1)", "3:1"},
    {"read again",
     "(2,9001):(9001,1)",
     "2:1",
     {1},
     {.row_threads = 32, .cluster = 1, .register_vectors = 0}},
    {"read again, peeled",
     "(2,9003):(9003,1)",
     "2:1",
     {1},
     {.vector = 4, .row_threads = 64, .cluster = 1, .register_vectors = 0}},
    {"columns", "(1013,72):(72,1)", "72:1", {0}, {.cluster = 1}},
    {"long columns, read again", "(8219,10):(10,1)", "10:1", {0}, {.cluster = 1}},
    {"everything", "(99,101):(101,1)", "1:0", {0, 1}, {.cluster = 1}},
    {"a scan", "(3,3001):(3001,1)", "3:1", {1}, {}, "cumsum((x - m) * rsqrt(v + 1))"},
    {"parts", "(30,301):(301,1)", "30:1", {1}, {}, "(x - m) / (1 + var(x, axis=0) + v)"},
    {"squares by hand",
     "(3,3001):(3001,1)",
     "3:1",
     {1},
     {},
     "(x - m) * rsqrt(sum((x - m) ** 2) / (extent(1) - 1) + 1)"},
};

Fused statistics(const Family& family, DType dtype) {
  const DType result = dtype == f64 ? f64 : f32;
  return {.tensors = {{"x", dtype, parse_layout(family.x)},
                      {"m", result, parse_layout(family.row)},
                      {"v", result, parse_layout(family.row)},
                      {"y", result, parse_layout(family.x)}},
          .formula = std::string("m = mean(x); v = var(x); y = ") + family.y,
          .axis = family.axis,
          .tuning = family.tuning};
}

struct Kernels {
  EmulatedKernels kernels;
  std::vector<std::string> names;
  std::vector<DType> dtypes;

  void add(const Family& family, DType dtype, bool light) {
    const std::string name = std::string(family.what) + " of " + std::string(to_string(dtype)) +
                             (light ? ", light" : "");
    RandomCase c{.op = statistics(family, dtype), .symbols = {}, .scalars = {}};
    if (light) {
      c.op.tuning = {};
      EXPECT_TRUE(kernels.add_light(name, std::move(c))) << name;
    } else {
      kernels.add(name, std::move(c));
    }
    names.push_back(name);
    dtypes.push_back(dtype);
  }
};

/// Compiled once for all tests; null if the compiler failed.
Kernels* all_kernels() {
  static const std::unique_ptr<Kernels> kKernels = [] {
    auto all = std::make_unique<Kernels>();
    for (const Family& family : kFamilies) {
      const std::string what = family.what;
      all->add(family, f32, false);
      if (what != "parts") all->add(family, f32, true);
      const auto has_all = {"held by a block", "read again", "columns", "everything"};
      if (std::ranges::find(has_all, what) == has_all.end()) continue;
      for (const DType dtype : {bf16, f64}) all->add(family, dtype, false);
    }
    return all->kernels.compile() ? std::move(all) : nullptr;
  }();
  return kKernels.get();
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) {
    if (!(std::fabs(value) <= most)) most = std::fabs(value);  // nan too
  }
  return most;
}

TEST(EmulatedCentred, ConstantRowsHaveNoVarianceAndTheirOwnMean) {
  Kernels* const all = all_kernels();
  ASSERT_NE(all, nullptr);
  for (const double constant : {3e7, -0.1, 1e30}) {
    for (std::size_t i = 0; i < all->names.size(); ++i) {
      SCOPED_TRACE(all->names[i] + " of " + std::to_string(constant));
      const auto tensors = all->kernels.verify(i, [&] { return constant; });
      const double stored = tensors[0].values()[0];
      EXPECT_EQ(largest(tensors[3].values()), 0);
      if (constant == 1e30 && all->dtypes[i] != f64) continue;  // squares overflow, as they may
      EXPECT_EQ(largest(tensors[2].values()), 0);
      for (const double mean : tensors[1].values()) EXPECT_EQ(mean, stored);
    }
  }
}

/// Mean and variance of the values that are a row, in long double.
std::pair<double, double> moments(const std::vector<double>& x) {
  const auto n = static_cast<long double>(x.size());
  const long double mean = std::accumulate(x.begin(), x.end(), 0.0L) / n;
  long double squares = 0;
  for (const double value : x) squares += (value - mean) * (value - mean);
  return {static_cast<double>(mean), static_cast<double>(squares / n)};
}

TEST(EmulatedCentred, RowsFarFromZeroHaveTheErrorOfRowsAroundZero) {
  Kernels* const all = all_kernels();
  ASSERT_NE(all, nullptr);
  for (const double center : {0.0, 1e4, -3e7}) {
    for (std::size_t i = 0; i < all->names.size(); ++i) {
      if (all->names[i].find("everything") == std::string::npos) continue;  // one row: no strides
      SCOPED_TRACE(all->names[i] + " around " + std::to_string(center));
      Random random(17);
      std::normal_distribution<double> around(center, std::fabs(center) > 1e6 ? 100 : 1);
      const auto tensors = all->kernels.verify(i, [&] { return around(random); });
      const auto [mean, variance] = moments(tensors[0].values());
      const double unit = all->dtypes[i] == f64 ? 0x1p-53 : 0x1p-24;
      EXPECT_LE(std::fabs(tensors[1].values()[0] - mean),
                2 * unit * std::fabs(mean) + 8 * unit * std::sqrt(variance));
      EXPECT_LE(std::fabs(tensors[2].values()[0] - variance), 32 * unit * variance);
    }
  }
}

}  // namespace
}  // namespace tilejit::test
