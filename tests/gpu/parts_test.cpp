// Operations of several kernels on the device, against the reference.
#include "driver/driver.hpp"
#include "gpu/gpu_fixture.hpp"
#include "support/specs.hpp"

namespace tilejit::test {
namespace {

class Parts : public Gpu {};

TEST_F(Parts, AgreeWithTheReference) {
  struct Case {
    const char* what;
    std::vector<Tensor> tensors;
    const char* formula;
    SymbolValues symbols = {};
  };
  constexpr const char* kX = "(1003,2050):(2050,1)";
  const Case cases[] = {
      {"a mean of maxima",
       {{"x", bf16, kX}, {"rows", f32, "1003:1"}, {"y", f32, "1:0"}},
       "rows = max(x, axis=1); y = mean(rows, axis=0)"},
      {"rows, then columns",
       {{"x", f16, kX}, {"y", f32, kX}},
       "a = exp(x - max(x, axis=1)); r = a / sum(a, axis=1); y = r / sum(r, axis=0)"},
      {"in place", {{"x", f32, kX, Access::inout}}, "x = x - mean(x, axis=1) - mean(x, axis=0)"},
      {"a channel of images",
       {{"x", bf16, "(6,32,30,31):(29760,930,31,1)"},
        {"y", bf16, "(6,32,30,31):(29760,930,31,1)"},
        {"amax", f32, "6:1"}},
       "y = (x - mean(x, axis=(0, 2, 3))) * rsqrt(var(x, axis=(0, 2, 3)) + 1e-5)\n"
       "amax = max(abs(x), axis=(1, 2, 3))"},
      {"clusters, then rows that blocks share",
       {{"x", f32, "(5,300000):(300000,1)"}, {"m", f32, "5:1"}, {"y", f32, "1:0"}},
       "m = sum(exp(x - max(x, axis=1)), axis=1); y = sum(m, axis=0) + max(x, axis=(0, 1))"},
      {"totals of blocks of short rows that come through shared memory",
       {{"x", f16, "(611,1110,3):(3330,3,1)"},
        {"z", f16, "(611,1110,3):(3330,3,1)"},
        {"rows", f16, "(611,1110):(1110,1)"},
        {"y", f32, "1:0"}},
       "d = sqrt(sum((x - z) * (x - z), axis=2)); rows = d; y = mean(d, axis=(0, 1))"},
      {"totals of blocks of rows that four threads share",
       {{"x", f32, "(70001,20):(20,1)"}, {"y", f32, "1:0"}},
       "y = min(log(sum(exp(x), axis=1)), axis=0)"},
      {"the same, reduced over what these rows were reduced over, too",
       {{"x", f32, "(70001,20):(20,1)"}, {"y", f32, "1:0"}},
       "y = mean(sum(abs(x), axis=1), axis=(0, 1))"},
      {"a summed-area table",
       {{"x", i32, kX}, {"y", i64, kX}},
       "y = cumsum(cumsum(x, axis=1), axis=0)"},
      {"scans in both directions, and a reduction of one",
       {{"x", f32, kX}, {"y", f32, kX}, {"m", f32, "1003:1"}},
       "c = cumsum(x); m = max(c); y = c + cumsum(x, reverse=true) - m"},
      {"symbols",
       {{"x", f32, "(M,N):(N,1)"}, {"y", f32, "(M,N):(N,1)"}, {"w", i64, "M:1"}},
       "w = argmax(x, axis=1); y = x - mean(f32(w), axis=0)",
       {{"M", 517}, {"N", 1030}}},
  };
  Random random(20261125);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    Fused op{.name = "parts", .tensors = c.tensors, .formula = c.formula};
    run_and_verify({.op = op, .symbols = c.symbols, .scalars = {}}, random);
    op.tuning.atomics = true;
    run_and_verify({.op = op, .symbols = c.symbols, .scalars = {}}, random);
  }
}

/// The memory between the kernels belongs to each launch, even if launches overlap.
TEST_F(Parts, InSeveralStreamsAndACapturedGraph) {
  const driver::Table& driver = driver::load_driver();
  constexpr std::size_t kRows = 300, kColumns = 4000, kStreams = 4;
  const Fused op =
      make_op(f32, {{"x", "(300,4000):(4000,1)"}, {"y", "1:0"}}, "y = sum(max(x, axis=1), axis=0)");
  const Kernel kernel = runtime()->compile(op);
  std::vector<Buffer> inputs, outputs;
  std::vector<CUstream> streams(kStreams);
  for (std::size_t i = 0; i < kStreams; ++i) {
    const std::vector<float> x(kRows * kColumns, static_cast<float>(i + 1));
    inputs.emplace_back(*runtime(), x.size() * sizeof(float));
    inputs.back().copy_from_host(x.data(), x.size() * sizeof(float));
    outputs.emplace_back(*runtime(), sizeof(float));
    ASSERT_EQ(driver.cuStreamCreate_(&streams[i], CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  }
  for (int round = 0; round < 20; ++round) {
    for (std::size_t i = 0; i < kStreams; ++i) {
      kernel.launch(streams[i], {inputs[i], outputs[i]});
    }
  }
  ASSERT_EQ(driver.cuStreamBeginCapture_(streams[0], CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  kernel.launch(streams[0], {inputs[3], outputs[0]});
  CUgraph graph = nullptr;
  ASSERT_EQ(driver.cuStreamEndCapture_(streams[0], &graph), CUDA_SUCCESS);
  CUgraphExec executable = nullptr;
  ASSERT_EQ(driver.cuGraphInstantiate_(&executable, graph, 0), CUDA_SUCCESS);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(driver.cuGraphLaunch_(executable, streams[0]), CUDA_SUCCESS);
  }
  const int expected[] = {4, 2, 3, 4};  // the first stream's from the graph
  for (std::size_t i = 0; i < kStreams; ++i) {
    ASSERT_EQ(driver.cuStreamSynchronize_(streams[i]), CUDA_SUCCESS);
    float got = 0;
    outputs[i].copy_to_host(&got, sizeof got);
    EXPECT_EQ(got, static_cast<float>(expected[i]) * kRows);
    driver.cuStreamDestroy_(streams[i]);
  }
  driver.cuGraphExecDestroy_(executable);
  driver.cuGraphDestroy_(graph);
}

}  // namespace
}  // namespace tilejit::test
