// Reductions with longer or fewer rows than random cases have.
#include "driver/driver.hpp"
#include "gpu/gpu_fixture.hpp"
#include "support/specs.hpp"

namespace tilejit::test {
namespace {

class Rows : public Gpu {};

TEST_F(Rows, OfEveryLengthAgreeWithTheReference) {
  struct Case {
    const char* what;
    DType dtype;
    const char *x, *y;
    std::vector<int> axis;
    const char* formula;
  };
  const Case cases[] = {
      {"everything", f32, "(4000037):(1)", "1:0", {0}, "y = sum(x)"},
      {"everything of a matrix", f16, "(3000,2001):(2001,1)", "1:0", {0, 1}, "y = mean(x)"},
      {"a few long rows", bf16, "(3,1000001):(1000001,1)", "3:1", {1}, "y = max(abs(x))"},
      {"everything, in parts that are held", f32, "(9000037):(1)", "1:0", {0}, "y = sum(x)"},
      {"long rows in such parts",
       f16,
       "(3,8000001):(8000001,1)",
       "3:1",
       {1},
       "y = f16(argmax(x) % 2000)"},
      {"exponentials of long rows",
       f32,
       "(2,4000037):(4000037,1)",
       "2:1",
       {1},
       "y = log(sum(exp(x - max(x)))) + max(x)"},
      {"long columns", f32, "(20011,264):(264,1)", "264:1", {0}, "y = sum(x)"},
      {"ragged columns", f16, "(9001,131):(131,1)", "131:1", {0}, "y = min(x)"},
      {"integers", i8, "(2000003):(1)", "1:0", {0}, "y = max(x)"},
      {"where the largest is", f32, "(1500,1501):(1501,1)", "1:0", {0, 1}, "y = f32(argmax(x))"},
      {"a cluster",
       bf16,
       "(5,131072):(131072,1)",
       "(5,131072):(131072,1)",
       {1},
       "e = exp(x - max(x))\ny = e / sum(e)"},
      {"a cluster takes one row after another",
       bf16,
       "(70,65536):(65536,1)",
       "(70,65536):(65536,1)",
       {1},
       "e = exp(x - max(x))\ny = e / sum(e)"},
      {"and reduces each once",
       f16,
       "(67,131072):(131072,1)",
       "(67,131072):(131072,1)",
       {1},
       "y = x * rsqrt(mean(x * x) + 1e-5)"},
      {"three times",
       f32,
       "(41,50000):(50000,1)",
       "(41,50000):(50000,1)",
       {1},
       "d = x - mean(x)\ny = d * rsqrt(mean(d * d)) - max(d)"},
      {"strips of columns", bf16, "(8192,4096):(4096,1)", "4096:1", {0}, "y = mean(x)"},
      {"a ragged cluster",
       f16,
       "(3,90001):(90001,1)",
       "(3,90001):(90001,1)",
       {1},
       "y = (x - mean(x)) * rsqrt(var(x) + 1e-5)"},
      {"longer than clusters hold",
       f32,
       "(2,3000000):(3000000,1)",
       "(2,3000000):(3000000,1)",
       {1},
       "y = x / max(abs(x))"},
      {"across, several passes",
       f32,
       "(5000,96):(96,1)",
       "(5000,96):(96,1)",
       {0},
       "e = exp(x - max(x))\ny = e / sum(e)"},
  };
  Random random(20261121);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    Fused op = make_op(c.dtype, {{"x", c.x}, {"y", c.y}}, c.formula);
    op.axis = c.axis;
    run_and_verify({.op = op, .symbols = {}, .scalars = {}}, random);
  }
}

/// Data that all rows share is copied to each block once; data with one element per row is read in
/// place.
TEST_F(Rows, OfClustersWithWeightsAndResultsOfRows) {
  Random random(20261122);
  const char* const kX = "(50,131072):(131072,1)";
  Fused op{.name = "norm",
           .tensors = {{"x", bf16, kX},
                       {"r", bf16, kX},
                       {"w", bf16, "131072:1"},
                       {"b", bf16, "131072:1"},
                       {"scale", f32, "(50,1):(1,0)"},
                       {"m", f32, "(50,1):(1,0)"},
                       {"y", bf16, kX}},
           .formula = "x = x + r\nd = x - mean(x)\ny = d * scale * w + b + m\nm = m + max(abs(d))"};
  op.tensors[0].access = op.tensors[5].access = Access::inout;
  run_and_verify({.op = op, .symbols = {}, .scalars = {}}, random);
}

/// Fewer and more adjacent columns than blocks, lanes and warps have.
TEST_F(Rows, OfClustersAcrossAgreeWithTheReference) {
  struct Case {
    const char* what;
    Fused op;
    int threads, row_threads, cluster;
  };
  const Case cases[] = {
      {"a column of vectors a block",
       make_op(bf16, {{"x", "(2049,512):(512,1)"}, {"y", "512:1"}}, "y = sum(x)"), 128, 16, 8},
      {"four a block", make_op(f32, {{"x", "(777,264):(264,1)"}, {"y", "264:1"}}, "y = mean(x)"),
       256, 16, 4},
      {"fewer than blocks", make_op(f16, {{"x", "(1000,40):(40,1)"}, {"y", "40:1"}}, "y = max(x)"),
       64, 32, 8},
      {"a single one", make_op(f32, {{"x", "(501,3):(3,1)"}, {"y", "3:1"}}, "y = sum(x)"), 32, 32,
       8},
      {"more than a warp has",
       make_op(i32, {{"x", "(99,900):(900,1)"}, {"y", "900:1"}}, "y = sum(x)"), 128, 2, 2},
      {"one lane a block", make_op(f32, {{"x", "(9,131):(131,1)"}, {"y", "131:1"}}, "y = min(x)"),
       64, 1, 8},
      {"places of f64",
       make_op(f64, {{"x", "(600,50):(50,1)"}, {"y", "50:1"}}, "y = sum(x) + argmax(x)"), 128, 32,
       8},
      {"two outputs, one in place",
       make_op(f32, {{"x", "(300,100):(100,1)"}, {"y", "100:1"}, {"z", "100:1"}},
               "y = y + var(x)\nz = max(x)"),
       64, 8, 4},
      {"needed by every lane",
       make_op(f16, {{"x", "(700,72):(72,1)"}, {"y", "(700,72):(72,1)"}}, "y = x - mean(x)"), 128,
       16, 8},
  };
  Random random(20261125);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    Fused op = c.op;
    op.axis = {0};
    if (op.tensors.size() == 3) op.tensors[1].access = Access::inout;
    op.tuning.threads = c.threads;
    op.tuning.row_threads = c.row_threads;
    op.tuning.cluster = c.cluster;
    run_and_verify({.op = op, .symbols = {}, .scalars = {}}, random);
  }
}

/// As planned: by a thread each, by blocks, and by clusters; of odd lengths, and around limits.
TEST_F(Rows, ColumnsThatAreHeldAgreeWithTheReference) {
  const char* const kFormulas[] = {"e = exp(x - max(x)); y = e / sum(e)",
                                   "y = (x - mean(x)) * rsqrt(var(x) + 1e-5)",
                                   "v = log(1 + exp(x)); y = v / (sum(v * v) + max(v))"};
  const std::pair<int, int> kShapes[] = {{1, 300},    {7, 223},    {16, 1000}, {17, 1001},
                                         {64, 2},     {113, 585},  {128, 64},  {257, 96},
                                         {1000, 128}, {1024, 144}, {2047, 33}, {4096, 512},
                                         {8191, 40},  {8192, 16},  {17000, 24}};
  Random random(20261124);
  for (const auto& [length, count] : kShapes) {
    for (const DType dtype : {f32, bf16, f16}) {
      const std::string rows = std::to_string(length), columns = std::to_string(count);
      const std::string layout = "(3," + rows + "," + columns + "):(" +
                                 std::to_string(length * count) + "," + columns + ",1)";
      SCOPED_TRACE(layout);
      const auto formula = static_cast<std::size_t>(length + count) % std::size(kFormulas);
      Fused op = make_op(dtype, {{"x", layout}, {"y", layout}}, kFormulas[formula]);
      op.axis = {1};
      run_and_verify({.op = op, .symbols = {}, .scalars = {}}, random);
    }
  }
}

/// Read once or held, by a thread, a block, a cluster or splits, with quotients of both kinds.
TEST_F(Rows, ColumnsWithInputsOfTheirOwnAgreeWithTheReference) {
  const char* const kFormulas[] = {"y = sum(x / (abs(w) + 1) + w)", "y = max(min(x, w) * w) + w",
                                   "y = var(x / (abs(w) + 1)) * w", "y = f32(argmin(x * w))"};
  const std::pair<int, int> kShapes[] = {{7, 223},   {64, 4098},  {300, 96},   {513, 2047},
                                         {1001, 77}, {2000, 569}, {20011, 131}};
  Random random(20261127);
  for (const auto& [length, count] : kShapes) {
    for (const DType dtype : {f32, bf16, f16}) {
      const std::string rows = std::to_string(length), columns = std::to_string(count);
      SCOPED_TRACE(rows + " x " + columns);
      for (const char* const formula : kFormulas) {
        Fused op = make_op(dtype,
                           {{"x", "(2," + rows + "," + columns + "):(" +
                                      std::to_string(length * count) + "," + columns + ",1)"},
                            {"w", "(1,1," + columns + "):(0,0,1)"}},
                           formula);
        op.tensors.push_back(
            {.name = "y", .dtype = f32, .layout = "(2,1," + columns + "):(" + columns + ",0,1)"});
        op.axis = {1};
        run_and_verify({.op = op, .symbols = {}, .scalars = {}}, random);
      }
    }
  }
}

/// Of so many, a block holds strips of 64 bytes, or of a sector.
TEST_F(Rows, OddColumnsThatABlockHoldsAgreeWithTheReference) {
  Random random(20261128);
  for (const DType dtype : {f32, bf16, u8}) {
    for (const int length : {300, 636, 1200}) {
      const std::string rows = std::to_string(length), all = std::to_string(length * 257);
      SCOPED_TRACE(rows);
      Fused op = make_op(dtype, {{"x", "(70," + rows + ",257):(" + all + ",257,1)"}},
                         dtype == u8 ? "y = var(f32(x))" : "y = f32(var(x))");
      op.tensors.push_back({.name = "y", .dtype = f32, .layout = "(70,1,257):(257,0,1)"});
      op.axis = {1};
      run_and_verify({.op = op, .symbols = {}, .scalars = {}}, random);
    }
  }
}

TEST_F(Rows, OddOnesOfSeveralRunsAgreeWithTheReference) {
  Random random(20261125);
  for (const DType dtype : {f32, bf16, f16}) {
    for (const int run : {257, 333, 1025, 2051}) {
      const std::string n = std::to_string(run), two = std::to_string(7 * run);
      const std::string layout = "(19,7," + n + "):(" + two + "," + n + ",1)";
      SCOPED_TRACE(layout);
      Fused op = make_op(dtype, {{"x", layout}, {"y", layout}, {"z", "(1,7,1):(0,1,0)"}},
                         "y = x * rsqrt(mean(x * x) + 1e-5); z = max(x)");
      op.axis = {0, 2};
      run_and_verify({.op = op, .symbols = {}, .scalars = {}}, random);
      op = make_op(dtype, {{"x", layout}, {"z", "(1,7,1):(0,1,0)"}}, "z = sum(x)");
      op.axis = {0, 2};
      run_and_verify({.op = op, .symbols = {}, .scalars = {}}, random);
    }
  }
}

/// Counting blocks leave the count as they found it, launch after launch.
TEST_F(Rows, CombinedByTheLastBlockAgreeWithTheReference) {
  const std::pair<Fused, std::vector<int>> cases[] = {
      {make_op(f32, {{"x", "(4000037):(1)"}, {"y", "1:0"}}, "y = sum(x)"), {0}},
      {make_op(bf16, {{"x", "(3,1000001):(1000001,1)"}, {"y", "3:1"}}, "y = max(abs(x))"), {1}},
      {make_op(f32, {{"x", "(1500,1501):(1501,1)"}, {"y", "1:0"}}, "y = f32(argmax(x))"), {0, 1}},
      {make_op(f16, {{"x", "(90001,40):(40,1)"}, {"y", "40:1"}}, "y = min(x)"), {0}},
      {make_op(f64, {{"x", "(300007,6):(6,1)"}, {"y", "6:1"}}, "y = sum(x) + prod(1 + x / 1e6)"),
       {0}},
  };
  Random random(20261124);
  for (const auto& [base, axis] : cases) {
    Fused op = base;
    op.axis = axis;
    op.tuning.atomics = true;
    SCOPED_TRACE(op.formula);
    for (int launch = 0; launch < 3; ++launch) {
      run_and_verify({.op = op, .symbols = {}, .scalars = {}}, random);
    }
  }
}

/// The memory between blocks belongs to each launch, even if launches overlap.
class SharedRows : public Gpu, public testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(Combined, SharedRows, testing::Bool(), [](const auto& info) {
  return info.param ? "ByTheLastBlock" : "ByASecondKernel";
});

TEST_P(SharedRows, AmongBlocksInSeveralStreamsAndGraphs) {
  const driver::Table& driver = driver::load_driver();
  constexpr int kCount = 3'000'000, kStreams = 4;
  Fused op = make_op(f32, {{"x", "(3000000):(1)"}, {"y", "1:0"}}, "y = sum(x)");
  op.tuning.atomics = GetParam();
  const Kernel kernel = runtime()->compile(op);
  std::vector<Buffer> inputs, outputs;
  std::vector<CUstream> streams(kStreams);
  for (int i = 0; i < kStreams; ++i) {
    const std::vector<float> x(kCount, static_cast<float>(i + 1));
    inputs.emplace_back(*runtime(), x.size() * sizeof(float));
    inputs.back().copy_from_host(x.data(), x.size() * sizeof(float));
    outputs.emplace_back(*runtime(), sizeof(float));
    ASSERT_EQ(driver.cuStreamCreate_(&streams[static_cast<std::size_t>(i)], CU_STREAM_NON_BLOCKING),
              CUDA_SUCCESS);
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
    EXPECT_EQ(got, static_cast<float>(expected[i] * kCount));
    driver.cuStreamDestroy_(streams[i]);
  }
  driver.cuGraphExecDestroy_(executable);
  driver.cuGraphDestroy_(graph);
}

}  // namespace
}  // namespace tilejit::test
