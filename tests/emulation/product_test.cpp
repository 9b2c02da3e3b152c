// Products of matrices, run on the CPU against the reference: the kernels' own text over copies,
// loads of matrices and products that behave as the device's.
#include "emulation/emulated.hpp"
#include "emulation/emulated_product.hpp"

namespace tilejit::test {
namespace {

enum class Plans : std::uint8_t { full, light };

void expect_products(const std::vector<ProductCase>& cases, Plans plans = Plans::full) {
  EmulatedKernels kernels;
  for (const ProductCase& c : cases) {
    if (plans == Plans::full) {
      kernels.add(c.what, c.random_case());
    } else {
      EXPECT_TRUE(kernels.add_light(c.what, c.random_case())) << c.what;
    }
  }
  ASSERT_TRUE(kernels.compile());
  Random random(23);
  kernels.verify_all(random);
}

TEST(EmulatedProducts, OnTensorCoresOfAnyLayouts) {
  expect_products({
      {"rows by rows",
       {{"a", bf16, "(150,72):(72,1)"},
        {"b", bf16, "(72,136):(136,1)"},
        {"d", bf16, "(150,136):(136,1)"}}},
      {"rows by columns, odd",
       {{"a", bf16, "(67,45):(45,1)"},
        {"b", bf16, "(45,71):(1,45)"},
        {"d", bf16, "(67,71):(71,1)"}}},
      {"columns by columns, to columns",
       {{"a", bf16, "(70,40):(1,72)"}, {"b", bf16, "(40,66):(1,40)"}, {"d", f32, "(70,66):(1,70)"}},
       "d = f32(a @ b)"},
      {"columns by rows, strided",
       {{"a", bf16, "(64,33):(1,64)"},
        {"b", bf16, "(33,48):(100,2)"},
        {"d", bf16, "(64,48):(50,1)"}}},
      {"a factor of rows that has rounded",
       {{"a", bf16, "(70,64):(64,1)"}, {"b", bf16, "(64,66):(66,1)"}, {"d", f32, "(70,66):(66,1)"}},
       "d = (a * bf16(rsqrt(mean(f32(a) * f32(a)) + 1))) @ b"},
      {"nested",
       {{"a", bf16, "((4,16),32):((1,128),4)"},
        {"b", bf16, "(32,(8,5)):(8,(1,256))"},
        {"d", bf16, "(64,40):(40,1)"}}},
      {"in doubles",
       {{"a", f64, "(75,37):(37,1)"}, {"b", f64, "(37,70):(70,1)"}, {"d", f64, "(75,70):(70,1)"}}},
      {"doubles of columns",
       {{"a", f64, "(72,36):(1,72)"}, {"b", f64, "(36,70):(1,36)"}, {"d", f64, "(72,70):(1,72)"}}},
      {"bytes",
       {{"a", i8, "(70,80):(80,1)"}, {"b", u8, "(80,66):(1,80)"}, {"d", i32, "(70,66):(66,1)"}}},
      {"bytes, turned",
       {{"a", u8, "(64,96):(1,64)"}, {"b", i8, "(96,70):(70,1)"}, {"d", i32, "(64,70):(70,1)"}}},
  });
}

TEST(EmulatedProducts, WithoutTensorCores) {
  expect_products({
      {"rows by rows",
       {{"a", f32, "(140,50):(50,1)"},
        {"b", f32, "(50,132):(132,1)"},
        {"d", f32, "(140,132):(132,1)"}}},
      {"rows by columns, odd",
       {{"a", f32, "(67,45):(45,1)"}, {"b", f32, "(45,71):(1,45)"}, {"d", f32, "(67,71):(71,1)"}}},
      {"columns by columns, to columns",
       {{"a", f32, "(70,40):(1,72)"}, {"b", f32, "(40,66):(1,40)"}, {"d", bf16, "(70,66):(1,70)"}},
       "d = a @ b"},
  });
}

TEST(EmulatedProducts, WithFormulasBatchesAndSymbols) {
  expect_products({
      {"an epilogue with broadcasts and two outputs",
       {{"a", bf16, "(M,K):(K,1)"},
        {"b", bf16, "(K,N):(N,1)"},
        {"bias", f32, "N:1"},
        {"r", bf16, "(M,N):(N,1)"},
        {"d", bf16, "(M,N):(N,1)"},
        {"e", f32, "(M,1):(1,1)"},
        {"f", f32, "(M,N):(1,M)"}},
       "s = a @ b + bias; d = relu(s) + r * e; f = s * 2.0",
       {{"M", 77}, {"N", 50}, {"K", 61}}},
      {"batches that repeat",
       {{"a", bf16, "(3,40,24):(960,24,1)"},
        {"b", bf16, "(2,1,24,48):(1152,0,48,1)"},
        {"d", bf16, "(2,3,40,48):(5760,1920,48,1)"}}},
      {"a triangle",
       {{"a", f32, "(40,24):(24,1)"}, {"b", f32, "(24,40):(40,1)"}, {"d", f32, "(40,40):(40,1)"}},
       "d = where(iota(0) >= iota(1), a @ b, 0.0)"},
      {"no depth",
       {{"a", bf16, "(20,0):(1,1)"},
        {"b", bf16, "(0,24):(24,1)"},
        {"c", f32, "24:1"},
        {"d", f32, "(20,24):(24,1)"}},
       "d = a @ b + c"},
  });
}

// Functions that make something else of the zeros behind an edge, infinities among them.
TEST(EmulatedProducts, OfOperandsThatAreComputedOnTheirWay) {
  expect_products({
      {"bytes to bf16, along K",
       {{"a", bf16, "(17,200)"}, {"b", i8, "(200,77):(1,200)"}, {"d", bf16, "(17,77)"}},
       "d = a @ bf16(b * 0.5)"},
      {"both, ragged",
       {{"a", bf16, "(33,115)"}, {"b", f32, "(115,70)"}, {"d", f32, "(33,70)"}},
       "d = bf16(1.0 / a) @ bf16(exp(b))"},
      {"symbols and columns",
       {{"a", f32, "(M,K):(1,M)"}, {"b", bf16, "(K,40)"}, {"d", bf16, "(M,40)"}},
       "d = bf16(a + 1.0) @ b",
       {{"M", 70}, {"K", 61}}},
      {"without tensor cores",
       {{"a", f32, "(3,20,65)"}, {"b", f32, "(65,66)"}, {"d", f32, "(3,20,66)"}},
       "d = exp(a) @ (b + 2.0)"},
      {"shared",
       {{"a", i32, "(70,300)"}, {"b", u8, "(300,50)"}, {"d", i32, "(70,50)"}},
       "d = i8(a // 3 + 1) @ b",
       {},
       {.splits = 2}},
  });
}

TEST(EmulatedProducts, OfLightPlans) {
  expect_products(
      {
          {"bf16", {{"a", bf16, "(70,45)"}, {"b", bf16, "(45,71):(1,45)"}, {"d", bf16, "(70,71)"}}},
          {"f32, symbols",
           {{"a", f32, "(M,K)"}, {"b", f32, "(K,66)"}, {"d", f32, "(M,66)"}},
           "d = relu(a @ b + 1.0)",
           {{"M", 67}, {"K", 35}}},
          {"doubles", {{"a", f64, "(65,30):(1,66)"}, {"b", f64, "(30,64)"}, {"d", f64, "(65,64)"}}},
          {"bytes", {{"a", i8, "(70,40)"}, {"b", u8, "(40,66):(1,40)"}, {"d", i32, "(70,66)"}}},
          {"computed",
           {{"a", f32, "(30,40)"}, {"b", bf16, "(40,50)"}, {"d", bf16, "(30,50)"}},
           "d = bf16(exp(a)) @ b"},
      },
      Plans::light);
}

TEST(EmulatedProducts, WithBlocksThatShareATile) {
  expect_products({
      {"on tensor cores",
       {{"a", bf16, "(70,500):(500,1)"},
        {"b", bf16, "(500,64):(64,1)"},
        {"d", bf16, "(70,64):(64,1)"}},
       "d = a @ b",
       {},
       {.splits = 3}},
      {"more blocks than steps",
       {{"a", f32, "(70,50):(50,1)"}, {"b", f32, "(50,64):(64,1)"}, {"d", f32, "(70,64):(64,1)"}},
       "d = a @ b + 1.0",
       {},
       {.splits = 7}},
      {"a tile that is asked for",
       {{"a", bf16, "(300,64):(64,1)"},
        {"b", bf16, "(64,300):(300,1)"},
        {"d", bf16, "(300,300):(300,1)"}},
       "d = a @ b",
       {},
       {.tile = {{256, 128}}}},
  });
}

}  // namespace
}  // namespace tilejit::test
