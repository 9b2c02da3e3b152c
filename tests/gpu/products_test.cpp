// Products of matrices on the device, against the reference. TILEJIT_TEST_CASES sets how many
// random ones, TILEJIT_TEST_SEED the first seed.
#include <cstdlib>

#include "gpu/gpu_fixture.hpp"
#include "gpu/number_from_env.hpp"
#include "support/product_case.hpp"

namespace tilejit::test {
namespace {

class Products : public Gpu {};

TEST_F(Products, OfRandomFormulasAgreeWithTheReference) {
  const std::uint64_t first = number_from_env("TILEJIT_TEST_SEED", 1);
  const std::uint64_t count = number_from_env("TILEJIT_TEST_CASES", 40);
  int failing = 0, known = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Random random(seed);
    const RandomCase c = random_product(random);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + to_json(c.op));
    try {
      run_and_verify(c, random);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what() << "\n" << error.log();
    }
    const int parts =
        testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count();
    if (parts > known) ++failing;
    known = parts;
    ASSERT_LT(failing, 8) << "stopped after eight failing seeds";
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
