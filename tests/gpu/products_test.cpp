// Products of matrices on the device, against the reference. TILEJIT_TEST_CASES sets how many
// random ones, TILEJIT_TEST_SEED the first seed.
#include <functional>

#include "gpu/gpu_fixture.hpp"
#include "support/number_from_env.hpp"
#include "support/product_case.hpp"
#include "support/reduction_case.hpp"

namespace tilejit::test {
namespace {

struct TunedCase {
  std::vector<Tensor> tensors;
  const char* formula;
  Tuning tuning;
};

class Products : public Gpu {
 protected:
  /// Makes a case from a seed, runs and verifies it; returns at how many sizes.
  using RunSeed = std::function<std::uint64_t(std::uint64_t seed)>;

  static void run_seeds(const RunSeed& run_seed) {
    const std::uint64_t first = number_from_env("TILEJIT_TEST_SEED", 1);
    const std::uint64_t count = number_from_env("TILEJIT_TEST_CASES", 40);
    int failing = 0, known = 0;
    std::uint64_t seed = first;
    for (std::uint64_t done = 0; done < count; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      try {
        done += run_seed(seed);
      } catch (const Error& error) {
        ADD_FAILURE() << error.what() << "\n" << error.log();
        ++done;
      }
      const int parts =
          testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count();
      if (parts > known) ++failing;
      known = parts;
      ASSERT_LT(failing, 8) << "stopped after eight failing seeds";
    }
    testing::Test::RecordProperty("kernels", std::to_string(seed - first));
  }

  /// Twice: right, and with the same bits.
  static void run_tuned_twice(const TunedCase& c) {
    const RandomCase product{
        .op = {.name = "tuned", .tensors = c.tensors, .formula = c.formula, .tuning = c.tuning},
        .symbols = {},
        .scalars = {}};
    SCOPED_TRACE(to_json(product.op));
    Random first(7), second(7);
    const auto run = [&](Random& random) {
      std::uniform_real_distribution<double> real(-2.0, 2.0);
      return run_and_verify(product, [&] { return real(random); });
    };
    std::vector<GuardedTensor> once = run(first), again = run(second);
    EXPECT_EQ(once.back().bytes(), again.back().bytes());
  }
};

TEST_F(Products, OfRandomFormulasAgreeWithTheReference) {
  run_seeds([](std::uint64_t seed) {
    Random random(seed);
    const RandomCase c = random_product(random);
    SCOPED_TRACE(to_json(c.op));
    run_and_verify(c, random);
    return 1;
  });
}

TEST_F(Products, WithRandomEpiloguesAgreeWithTheReference) {
  run_seeds([](std::uint64_t seed) {
    Random random(seed);
    const RandomCase c = random_epilogue(random);
    SCOPED_TRACE(to_json(c.op));
    run_and_verify(c, random);
    return 1;
  });
}

struct Operands {
  DType a, b;
};

class ProductsOf : public Products, public testing::WithParamInterface<Operands> {};

// Extents up to 3000, at times without batches; a kernel with symbols runs at three sizes.
TEST_P(ProductsOf, RandomShapesAgreeWithTheReference) {
  constexpr std::uint64_t kSizes = 3;
  run_seeds([](std::uint64_t seed) -> std::uint64_t {
    Random random(seed);
    RandomCase c = random_product(random, GetParam().a, GetParam().b, ProductExtents::large);
    const std::uint64_t sizes = c.symbols.empty() ? 1 : kSizes;
    for (std::uint64_t i = 0; i < sizes; ++i) {
      if (i > 0) change_symbols(c, random, ProductExtents::large);
      std::string trace = to_json(c.op);
      for (const auto& [name, value] : c.symbols) trace += " " + name + "=" + std::to_string(value);
      SCOPED_TRACE(trace);
      run_and_verify(c, random);
    }
    return sizes;
  });
}

INSTANTIATE_TEST_SUITE_P(Types, ProductsOf,
                         testing::Values(Operands{f16, f16}, Operands{bf16, bf16},
                                         Operands{f32, f32}, Operands{f64, f64},
                                         Operands{tf32, tf32}, Operands{f8e4m3, f8e4m3},
                                         Operands{f8e5m2, f8e5m2}, Operands{f8e4m3, f8e5m2},
                                         Operands{i8, i8}, Operands{u8, u8}, Operands{i8, u8}),
                         [](const testing::TestParamInfo<Operands>& info) {
                           return std::string(to_string(info.param.a)) + "_" +
                                  std::string(to_string(info.param.b));
                         });

// All elements of a product are compared that the CPU would only sample.
TEST_F(Products, WithReductionsAlongNAgreeWithTheReference) {
  run_seeds([](std::uint64_t seed) {
    Random random(seed);
    const RandomCase c = random_reduction(random, 1600);
    SCOPED_TRACE(to_json(c.op));
    run_and_verify(c, random);
    return std::uint64_t{1};
  });
}

TEST_F(Products, LargerThanTheCpuComputesAreComparedWhole) {
  const RandomCase c{.op = {.name = "large",
                            .tensors = {{"a", bf16, "(2048,1536)"},
                                        {"b", bf16, "(1536,2050)"},
                                        {"d", bf16, "(2048,2050)"}},
                            .formula = "d = gelu(a @ b)"},
                     .symbols = {},
                     .scalars = {}};
  Random random(1);
  std::uniform_real_distribution<double> real(-2.0, 2.0);
  std::vector<GuardedTensor> tensors = run_and_verify(c, [&] { return real(random); });
  const HostArguments inputs{.tensors = {tensors[0].data(), tensors[1].data(), nullptr}};
  const std::vector<const void*> actual = {nullptr, nullptr, tensors[2].data()};
  const Verification right = verify(*runtime(), c.op, inputs, actual);
  EXPECT_TRUE(right.passed) << right.first_mismatch;
  EXPECT_EQ(right.elements, 2048 * 2050);
  encode(bf16, -1000, tensors[2].data() + (1027 * 2050 + 333) * size_bytes(bf16));
  EXPECT_EQ(verify(*runtime(), c.op, inputs, actual).mismatches, 1);
}

// Blocks that share rows and columns, with tiles that no other block has beside or below.
TEST_F(Products, OfClustersAreRightAndAlikeEveryTime) {
  const TunedCase cases[] = {
      {{{"a", bf16, "(400,328)"}, {"b", bf16, "(328,400)"}, {"d", bf16, "(400,400)"}},
       "d = gelu(a @ b)",
       {.tile = {{128, 128}}, .cluster = 4}},
      {{{"a", bf16, "(200,1000)"}, {"b", bf16, "(1000,136):(1,1000)"}, {"d", bf16, "(200,136)"}},
       "d = a @ b",
       {.tile = {{48, 64}}, .cluster = 4, .splits = 2}},
      {{{"a", f16, "(520,328):(1,520)"}, {"b", f16, "(328,776):(1,328)"}, {"d", f16, "(520,776)"}},
       "d = a @ b",
       {.tile = {{192, 192}}, .cluster = 4}},
      {{{"a", bf16, "(3,520,136)"}, {"b", bf16, "(136,776)"}, {"d", f32, "(3,520,776)"}},
       "d = a @ b - 1",
       {.tile = {{256, 128}}, .cluster = 4}},
      {{{"a", tf32, "(300,1000)"}, {"b", tf32, "(1000,264)"}, {"d", f32, "(300,264)"}},
       "d = a @ b",
       {.tile = {{128, 64}}, .cluster = 4}},
      {{{"a", tf32, "(300,1000)"}, {"b", tf32, "(1000,264)"}, {"d", f32, "(300,264)"}},
       "d = relu(a @ b)",
       {.tile = {{192, 96}}, .cluster = 2, .splits = 3}},
      {{{"a", tf32, "(2,132,72):(9504,1,132)"},
        {"b", tf32, "(72,96):(1,72)"},
        {"d", f32, "(2,132,96)"}},
       "d = a @ b",
       {.tile = {{56, 64}}, .cluster = 1}},
  };
  for (const TunedCase& c : cases) run_tuned_twice(c);
}

TEST_F(Products, OfSplitSumsAreRightAndAlikeEveryTime) {
  const TunedCase cases[] = {
      {{{"a", bf16, "(200,2000)"}, {"b", bf16, "(2000,136)"}, {"d", bf16, "(200,136)"}},
       "d = gelu(a @ b)",
       {.tile = {{64, 128}}, .cluster = 2, .splits = 4}},
      {{{"a", f16, "(2000,200):(1,2000)"}, {"b", f16, "(200,72):(1,200)"}, {"d", f16, "(2000,72)"}},
       "d = a @ b",
       {.tile = {{72, 256}}, .cluster = 1, .splits = 2}},
      {{{"a", bf16, "(3,320,1096)"}, {"b", bf16, "(3,1096,192)"}, {"d", f32, "(3,320,192)"}},
       "d = a @ b - 1",
       {.tile = {{192, 192}}, .cluster = 1, .splits = 5}},
      {{{"a", bf16, "(64,1600)"}, {"b", bf16, "(1600,56):(1,1600)"}, {"d", bf16, "(64,56)"}},
       "d = a @ b",
       {.tile = {{16, 64}}, .cluster = 1, .splits = 8}},
      {{{"a", i8, "(130,1600)"}, {"b", i8, "(1600,64):(1,1600)"}, {"d", i32, "(130,64)"}},
       "d = a @ b",
       {.tile = {{64, 128}}, .cluster = 2, .splits = 3}},
      {{{"a", tf32, "(100,1000)"}, {"b", tf32, "(1000,120):(1,1000)"}, {"d", f32, "(100,120)"}},
       "d = a @ b",
       {.tile = {{120, 128}}, .cluster = 1, .splits = 7}},
  };
  for (const TunedCase& c : cases) run_tuned_twice(c);
}

// Functions that make something else of the zeros behind an edge, infinities among them.
TEST_F(Products, OfOperandsThatAreComputedOnTheirWayAgreeWithTheReference) {
  struct Case {
    std::vector<Tensor> tensors;
    const char* formula;
    SymbolValues symbols = {};
  };
  const Case cases[] = {
      {{{"a", bf16, "(17,1000)"}, {"b", i8, "(1000,777):(1,1000)"}, {"d", bf16, "(17,777)"}},
       "d = gelu(a @ bf16(b * s) + 1)"},
      {{{"a", bf16, "(33,515)"}, {"b", f8e4m3, "(515,130)"}, {"d", f32, "(33,130)"}},
       "d = bf16(s / a) @ bf16(b)"},
      {{{"a", f32, "(3,70,65)"}, {"b", f32, "(65,129)"}, {"d", f32, "(3,70,129)"}},
       "d = exp(a) @ (b + s)"},
      {{{"a", f16, "(M,K)"}, {"b", f32, "(K,60)"}, {"d", f16, "(M,60)"}},
       "d = f16(silu(a) + s) @ f16(b)",
       {{"M", 77}, {"K", 301}}},
      {{{"a", i32, "(100,90):(1,100)"}, {"b", u8, "(90,50)"}, {"d", i32, "(100,50)"}},
       "d = i8(a // 3 + 1) @ b + i32(s)"},
      {{{"a", f64, "(64,300)"}, {"b", f32, "(300,64):(1,300)"}, {"d", f64, "(64,64)"}},
       "d = cos(a) @ f64(b) * s"},
      {{{"a", f32, "(100,200)"}, {"b", f32, "(200,60)"}, {"d", f32, "(100,60)"}},
       "d = tf32(a * s) @ tf32(relu(b))"},
      {{{"a", bf16, "(50,31)"}, {"b", f16, "(31,40)"}, {"d", f32, "(50,40)"}},
       "d = f8e4m3(a + s) @ f8e5m2(b - 1)"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.formula);
    Random random(11);
    run_and_verify({.op = {.name = "computed",
                           .tensors = c.tensors,
                           .scalars = {{.name = "s", .dtype = f32}},
                           .formula = c.formula},
                    .symbols = c.symbols,
                    .scalars = {0.75}},
                   random);
  }
}

TEST_F(Products, OfManyTilesHaveEqualBitsTwice) {
  struct Case {
    const char* what;
    std::vector<Tensor> tensors;
    const char* formula;
  };
  const Case cases[] = {
      {"a linear layer",
       {{"a", bf16, "(517,1000)"},
        {"b", bf16, "(1000,770)"},
        {"c", bf16, "770"},
        {"d", bf16, "(517,770)"}},
       "d = gelu(a @ b + c)"},
      {"a long sum",
       {{"a", f16, "(64,16384)"}, {"b", f16, "(96,16384)"}, {"d", f32, "(64,96)"}},
       "d = a @ b.T"},
      {"f32",
       {{"a", f32, "(300,700)"}, {"b", f32, "(700,401)"}, {"d", f32, "(300,401)"}},
       "d = a @ b"},
      {"a long sum in f32",
       {{"a", f32, "(70,9000):(1,70)"}, {"b", f32, "(9000,50)"}, {"d", f32, "(70,50)"}},
       "d = a @ b"},
      {"f64",
       {{"a", f64, "(257,300)"}, {"b", f64, "(300,129)"}, {"d", f64, "(257,129)"}},
       "d = a @ b"},
      {"bytes",
       {{"a", i8, "(257,300)"}, {"b", u8, "(300,129):(1,300)"}, {"d", i32, "(257,129)"}},
       "d = a @ b"},
      {"f8",
       {{"a", f8e4m3, "(256,512)"}, {"b", f8e4m3, "(512,256):(1,512)"}, {"d", bf16, "(256,256)"}},
       "d = a @ b"},
      {"attention",
       {{"q", bf16, "(6,200,64)"},
        {"k", bf16, "(6,300,64)"},
        {"v", bf16, "(6,300,64)"},
        {"y", bf16, "(6,200,64)"}},
       "s = (q @ k.T) * 0.125; e = exp(s - max(s)); y = bf16(e / sum(e)) @ v"},
      {"in place",
       {{.name = "x", .dtype = f32, .layout = "(300,300)", .access = Access::inout},
        {"w", f32, "(300,300)"}},
       "x = x @ w + x.T"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const RandomCase one{.op = {.name = "product", .tensors = c.tensors, .formula = c.formula},
                         .symbols = {},
                         .scalars = {}};
    const auto run = [&] {
      Random random(7);
      std::uniform_real_distribution<double> real(-2.0, 2.0);
      std::uniform_int_distribution<int> integer(0, 60);
      const bool floating = is_floating(c.tensors[0].dtype);
      return run_and_verify(one, [&] { return floating ? real(random) : integer(random); });
    };
    std::vector<GuardedTensor> runs[] = {run(), run()};
    for (std::size_t t = 0; t < c.tensors.size(); ++t)
      EXPECT_EQ(runs[0][t].bytes(), runs[1][t].bytes()) << c.tensors[t].name;
  }
}

}  // namespace
}  // namespace tilejit::test
