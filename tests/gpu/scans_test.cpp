// Scans with longer or fewer rows than random cases have.
#include "driver/driver.hpp"
#include "gpu/gpu_fixture.hpp"
#include "support/specs.hpp"

namespace tilejit::test {
namespace {

class Scans : public Gpu {};

TEST_F(Scans, OfEveryLengthAgreeWithTheReference) {
  struct Case {
    const char* what;
    DType dtype;
    const char* layout;
    const char* formula;
  };
  const Case cases[] = {
      {"one long row", f32, "(4000037):(1)", "y = cumsum(x)"},
      {"one long row, backwards", bf16, "(4000037):(1)", "y = cumsum(x, reverse=true)"},
      {"a few long rows, exclusive", f64, "(3,1000001):(1000001,1)",
       "y = cumsum(x, exclusive=true)"},
      {"integers", i32, "(7,500009):(500009,1)", "y = cumsum(x) + cummax(x)"},
      {"rows in chunks", f16, "(600,20011):(20011,1)", "y = cummax(x)"},
      {"rows in large blocks", f32, "(200,70000):(70000,1)", "y = cumsum(x, reverse=true)"},
      {"rows held", bf16, "(3000,4096):(4096,1)", "y = cumsum(x)"},
      {"rows within warps", f16, "(10007,96):(96,1)", "y = cumsum(x, exclusive=true)"},
      {"short rows", u8, "(100003,5):(5,1)", "y = cumsum(x)"},
      {"a distribution", f16, "(64,32000):(32000,1)",
       "e = exp(x - max(x))\ny = cumsum(e) * (1 / sum(e))"},
      {"columns", f16, "(2003,4096):(4096,1)", "y = cumsum(x, axis=0)"},
      {"ragged columns, backwards", f32, "(9001,131):(131,1)",
       "y = cumsum(x, axis=0, reverse=true)"},
      {"a few long columns", bf16, "(300011,24):(24,1)", "y = cumsum(x, axis=0)"},
      {"columns, with a reduction", f32, "(5000,96):(96,1)",
       "y = cumsum(x, axis=0) - max(x, axis=0)"},
      {"a middle axis", i16, "(20,301,40):(12040,40,1)", "y = cumsum(x, axis=1)"},
  };
  Random random(20261121);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const Fused op = make_op(c.dtype, {{"x", c.layout}, {"y", c.layout}}, c.formula);
    run_and_verify({.op = op, .symbols = {}, .scalars = {}}, random);
  }
}

/// Blocks share the row: the memory between the two kernels belongs to each launch.
TEST_F(Scans, GiveTheSameBitsInEveryRunAndStream) {
  const driver::Table& driver = driver::load_driver();
  constexpr std::size_t kCount = 3'000'001, kStreams = 4;
  const Kernel kernel = runtime()->compile(
      make_op(f32, {{"x", "(3000001):(1)"}, {"y", "(3000001):(1)"}}, "y = cumsum(x)"));
  std::vector<float> x(kCount), first(kCount), got(kCount);
  Random random(3);
  for (float& value : x) value = std::uniform_real_distribution<float>(-1, 1)(random);
  Buffer input(*runtime(), kCount * sizeof(float));
  input.copy_from_host(x.data(), kCount * sizeof(float));
  std::vector<Buffer> outputs;
  std::vector<CUstream> streams(kStreams);
  for (CUstream& stream : streams) {
    outputs.emplace_back(*runtime(), kCount * sizeof(float));
    ASSERT_EQ(driver.cuStreamCreate_(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  }
  for (int round = 0; round < 10; ++round) {
    for (std::size_t i = 0; i < kStreams; ++i) kernel.launch(streams[i], {input, outputs[i]});
  }
  for (std::size_t i = 0; i < kStreams; ++i) {
    ASSERT_EQ(driver.cuStreamSynchronize_(streams[i]), CUDA_SUCCESS);
    outputs[i].copy_to_host(got.data(), kCount * sizeof(float));
    if (i == 0) first = got;
    EXPECT_EQ(got, first);
    driver.cuStreamDestroy_(streams[i]);
  }
}

}  // namespace
}  // namespace tilejit::test
