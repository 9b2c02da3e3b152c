// Means, variances and norms of rows far from 0, by every family of kernels. The mean's rounding
// error used to be squared into the variance: the variance of a row of 3e7 was 4.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "gpu/gpu_fixture.hpp"

namespace tilejit::test {
namespace {

class Centred : public Gpu {};

struct Family {
  const char* what;
  DType dtype;
  const char *x, *row;  // layouts: of x, and of tensors with one element per row
  std::vector<int> axis = {1};
  SymbolValues symbols = {};
  const char* y = "(x - m) * rsqrt(v + 1)";
};

// Lengths are not powers of two, which would make all sums of equal numbers exact.
const Family kFamilies[] = {
    {"a row a thread", f32, "(3000,3):(3,1)", "3000:1"},
    {"held by a warp", f32, "(999,250):(250,1)", "999:1"},
    {"held by a warp", f16, "(999,250):(250,1)", "999:1"},
    {"held by a block", f32, "(300,3001):(3001,1)", "300:1"},
    {"held by a block", bf16, "(300,3000):(3000,1)", "300:1"},
    {"held by a block", f64, "(300,3001):(3001,1)", "300:1"},
    {"a cluster", f32, "(5,60000):(60000,1)", "5:1"},
    {"a cluster takes one row after another", bf16, "(70,120000):(120000,1)", "70:1"},
    {"longer than clusters hold", f32, "(2,3000001):(3000001,1)", "2:1"},
    {"everything", f32, "(999,1001):(1001,1)", "1:0", {0, 1}},
    {"everything", f16, "(999,1001):(1001,1)", "1:0", {0, 1}},
    {"columns", f32, "(5003,96):(96,1)", "96:1", {0}},
    {"strips of columns", bf16, "(9001,264):(264,1)", "264:1", {0}},
    {"columns", f64, "(5003,96):(96,1)", "96:1", {0}},
    {"extents of the launch", f32, "(M,N):(N,1)", "M:1", {1}, {{"M", 7}, {"N", 12345}}},
    {"a scan", f32, "(30,3001):(3001,1)", "30:1", {1}, {}, "cumsum((x - m) * rsqrt(v + 1))"},
    {"parts", f32, "(30,301):(301,1)", "30:1", {1}, {}, "(x - m) / (1 + var(x, axis=0) + v)"},
};

RandomCase statistics(const Family& family) {
  const DType result = family.dtype == f64 ? f64 : f32;
  Fused op{.name = "statistics",
           .tensors = {{"x", family.dtype, parse_layout(family.x)},
                       {"m", result, parse_layout(family.row)},
                       {"v", result, parse_layout(family.row)},
                       {"y", result, parse_layout(family.x)}},
           .formula = std::string("m = mean(x); v = var(x); y = ") + family.y,
           .axis = family.axis};
  return {.op = op, .symbols = family.symbols, .scalars = {}};
}

TEST_F(Centred, ConstantRowsHaveNoVarianceAndTheirOwnMean) {
  for (const Family& family : kFamilies) {
    for (const double constant : {family.dtype == f16 ? 30000.0 : 3e7, -0.1}) {
      SCOPED_TRACE(std::string(family.what) + " of " + std::string(to_string(family.dtype)) + ": " +
                   std::to_string(constant));
      const auto tensors = run_and_verify(statistics(family), [&] { return constant; });
      const double stored = tensors[0].values()[0];
      for (const double mean : tensors[1].values()) EXPECT_EQ(mean, stored);
      for (const double variance : tensors[2].values()) EXPECT_EQ(variance, 0);
      double most = 0;
      for (const double y : tensors[3].values()) most = std::max(most, std::fabs(y));
      EXPECT_EQ(most, 0);
    }
  }
}

TEST_F(Centred, RowsFarFromZeroHaveTheErrorOfRowsAroundZero) {
  for (const Family& family : kFamilies) {
    if (family.axis[0] != 1 && family.axis.size() == 1) continue;  // a row's values are neighbours
    for (const double center : {0.0, 1e4}) {
      SCOPED_TRACE(std::string(family.what) + " of " + std::string(to_string(family.dtype)) +
                   " around " + std::to_string(center));
      Random random(17);
      std::normal_distribution<double> around(center, 1);
      const auto tensors = run_and_verify(statistics(family), [&] { return around(random); });
      const std::vector<double> x = tensors[0].values(), means = tensors[1].values(),
                                variances = tensors[2].values();
      const std::size_t length = x.size() / means.size();
      const auto n = static_cast<long double>(length);
      const double unit = family.dtype == f64 ? 0x1p-53 : 0x1p-24;
      for (std::size_t r = 0; r < means.size(); ++r) {
        const auto* const row = x.data() + r * length;
        const long double mean = std::accumulate(row, row + length, 0.0L) / n;
        long double squares = 0;
        for (std::size_t i = 0; i < length; ++i) squares += (row[i] - mean) * (row[i] - mean);
        const auto variance = static_cast<double>(squares / n);
        const auto center_of_row = static_cast<double>(mean);
        EXPECT_LE(std::fabs(means[r] - center_of_row),
                  2 * unit * std::fabs(center_of_row) + 8 * unit * std::sqrt(variance));
        EXPECT_LE(std::fabs(variances[r] - variance), 48 * unit * variance);
      }
    }
  }
}

}  // namespace
}  // namespace tilejit::test
