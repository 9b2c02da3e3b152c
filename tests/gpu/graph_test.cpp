// Graphs on a device: captured while their kernels are compiled, built, updated.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "driver/driver.hpp"
#include "gpu/device_data.hpp"
#include "gpu/gpu_fixture.hpp"
#include "support/specs.hpp"

namespace tilejit::test {
namespace {

class GraphsOnDevice : public Gpu {
 protected:
  static Fused scaled(const std::string& layout) {
    Fused op = make_op(f32, {{"x", layout}, {"y", layout}}, "y = x * s + 1");
    op.scalars = {{"s", f32}};
    return op;
  }
  static Fused total(int rows) {
    const std::string m = std::to_string(rows);
    Fused op = make_op(f32, {{"x", "(" + m + ",65536):(65536,1)"}, {"y", "(" + m + "):(1)"}},
                       "y = sum(x)");
    op.tuning.splits = 8;
    return op;
  }
};

TEST_F(GraphsOnDevice, AreCapturedInEachModeWithKernelsCompiledMeanwhile) {
  int rows = 2;
  for (const Capture::Mode mode :
       {Capture::Mode::global, Capture::Mode::thread, Capture::Mode::relaxed}) {
    SCOPED_TRACE(static_cast<int>(mode));
    ++rows;  // a kernel that is not loaded yet
    const OwnedStream stream(*runtime());
    const auto count = static_cast<std::size_t>(rows);
    const Buffer x = upload(*runtime(), std::vector<float>(count * 65536, 1.0f));
    Buffer y(*runtime(), count * sizeof(float)), z(*runtime(), count * sizeof(float));
    Capture capture(*runtime(), stream, mode);
    const Kernel sum = runtime()->compile(total(rows));
    sum.launch(stream, {x, y});
    capture.pass("the sum");
    const Kernel scale = runtime()->compile(scaled("(" + std::to_string(rows) + "):(1)"));
    scale.launch(stream, {y, z, 2.0});
    const Graph graph = capture.end();
    const GraphExec executable = graph.instantiate();
    for (int i = 0; i < 3; ++i) executable.launch(stream);
    stream.synchronize();
    EXPECT_EQ(download<float>(z), std::vector<float>(count, 2 * 65536.0f + 1));
    EXPECT_NE(graph.to_dot().find("tilejit_"), std::string::npos);
  }
}

/// x / (sums of rows) / (sums of columns), in double.
std::vector<double> normalised(const std::vector<float>& x, std::size_t rows, std::size_t columns) {
  std::vector<double> of_row(rows), of_column(columns), y(rows * columns);
  for (std::size_t i = 0; i < y.size(); ++i) {
    of_row[i / columns] += x[i];
    of_column[i % columns] += x[i];
  }
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] = x[i] / of_row[i / columns] / of_column[i % columns];
  }
  return y;
}

TEST_F(GraphsOnDevice, HaveOperationsOfSeveralKernelsWithMemoryThatGrows) {
  const Kernel kernel =
      runtime()->compile(make_op(f32, {{"x", "(M,N):(N,1)"}, {"y", "(M,N):(N,1)"}},
                                 "y = x / sum(x, axis=1) / sum(x, axis=0)"));
  constexpr std::size_t kMost = 1003 * 2050;
  std::vector<float> x = counting(kMost);
  for (float& value : x) value = 1 + std::fmod(value * 0.37f, 1.0f);
  const Buffer in = upload(*runtime(), x);
  Buffer out = upload(*runtime(), std::vector<float>(kMost, -1));
  const OwnedStream stream(*runtime());
  GraphBuilder builder(*runtime());
  const Node node = builder.kernel(kernel, {in, out}, {}, {{"M", 64}, {"N", 129}});
  const Graph graph = builder.finish();
  EXPECT_EQ(graph.size(), 2U);
  const Graph copy = graph.clone();
  GraphExec executable = graph.instantiate(), other = copy.instantiate();
  const auto check = [&](const GraphExec& exec, std::size_t rows, std::size_t columns) {
    exec.launch(stream);
    stream.synchronize();
    const std::vector<float> y = download<float>(out);
    const std::vector<double> want = normalised(x, rows, columns);
    for (std::size_t i = 0; i < want.size(); ++i) {
      ASSERT_NEAR(y[i], want[i], want[i] * 1e-5) << rows << " x " << columns << " at " << i;
    }
  };
  check(executable, 64, 129);
  for (const auto& [rows, columns] : {std::pair(1003, 2050), {7, 3}, {300, 517}}) {
    executable.update(node, {in, out}, {{"M", rows}, {"N", columns}});
    check(executable, static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  }
  check(other, 64, 129);
}

TEST_F(GraphsOnDevice, TellWhatBrokeACapture) {
  const OwnedStream stream(*runtime());
  Capture capture(*runtime(), stream, Capture::Mode::thread);
  capture.pass("before");
  try {
    stream.synchronize();
    ADD_FAILURE() << "a stream that is being captured was waited for";
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), "cuStreamSynchronize");
  }
  try {
    (void)capture.end();
    ADD_FAILURE() << "the capture went on";
  } catch (const Error& error) {
    EXPECT_NE(
        std::string(error.what()).find("between 'before' and the end, by cuStreamSynchronize"),
        std::string::npos)
        << error.what();
  }
}

TEST_F(GraphsOnDevice, AreBuiltUpdatedClonedAndNested) {
  const OwnedStream stream(*runtime());
  const Kernel scale = runtime()->compile(scaled("(1000):(1)"));
  const Kernel sum = runtime()->compile(total(4));
  Buffer x(*runtime(), 4000), y(*runtime(), 4000), z = upload(*runtime(), counting(1000));
  const Buffer rows = upload(*runtime(), std::vector<float>(4 * 65536, 1.0f));
  Buffer sums(*runtime(), 16);
  Event event(*runtime());

  GraphBuilder inner(*runtime());
  const Node reduce = inner.kernel(sum, {rows, sums});
  const Graph child = inner.finish();
  GraphBuilder builder(*runtime());
  const Node copy = builder.copy(x.data(), z.data(), 4000);
  const Node clear = builder.fill(y.data(), 0, 1000, 4);
  const Node launch = builder.kernel(scale, {x, y, 2.0}, {copy, clear});
  const Node again = builder.child(child, launch);
  (void)builder.record(event, again);
  const Graph graph = builder.finish();
  GraphExec executable = graph.instantiate();
  executable.launch(stream);
  stream.synchronize();
  EXPECT_TRUE(event.is_done());
  EXPECT_EQ(download<float>(y)[10], 21.0f);
  EXPECT_EQ(download<float>(sums), std::vector<float>(4, 65536.0f));

  executable.update(launch, {x, y, 3.0});
  executable.launch(stream);
  stream.synchronize();
  EXPECT_EQ(download<float>(y)[10], 31.0f);

  Buffer other = upload(*runtime(), std::vector<float>(4, 0.0f));
  const Graph clone = child.clone();
  GraphExec of_clone = clone.instantiate();
  of_clone.update(reduce, {rows, other});
  of_clone.launch(stream);
  stream.synchronize();
  EXPECT_EQ(download<float>(other), std::vector<float>(4, 65536.0f));
}

TEST_F(GraphsOnDevice, AreUpdatedAsAWhole) {
  const OwnedStream stream(*runtime());
  const Kernel scale = runtime()->compile(scaled("(N):(1)"));
  const Kernel other = runtime()->compile(scaled("(1000):(1)"));
  const Buffer x = upload(*runtime(), counting(1000));
  Buffer y(*runtime(), 4000);
  const auto build = [&](const Kernel& kernel, double s, const SymbolValues& sizes) {
    GraphBuilder builder(*runtime());
    const Node clear = builder.fill(y.data(), 0, 1000, 4);
    (void)builder.kernel(kernel, {x, y, s}, clear, sizes);
    return builder.finish();
  };
  const Graph first = build(scale, 2, {{"N", 1000}});
  GraphExec executable = first.instantiate();
  executable.update(build(scale, 3, {{"N", 11}}));
  executable.launch(stream);
  stream.synchronize();
  EXPECT_EQ(download<float>(y)[10], 31.0f);
  EXPECT_EQ(download<float>(y)[11], 0.0f);
  executable.update(build(other, 4, {}));  // another kernel
  executable.launch(stream);
  stream.synchronize();
  EXPECT_EQ(download<float>(y)[999], 3997.0f);

  Capture capture(*runtime(), stream);
  scale.launch(stream, std::vector<Argument>{x, y, 5.0}, {{"N", 1000}});
  const Graph captured = capture.end();
  try {
    executable.update(captured);
    ADD_FAILURE() << "a graph of one node took the place of two";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_EQ(error.where(), "cuGraphExecUpdate") << error.what();
  }
  executable.update(first);
  executable.launch(stream);
  stream.synchronize();
  EXPECT_EQ(download<float>(y)[999], 1999.0f);
}

TEST_F(GraphsOnDevice, LeaveOutANodeWithNothingToDo) {
  const OwnedStream stream(*runtime());
  const Kernel scale = runtime()->compile(scaled("(N):(1)"));
  const Buffer x = upload(*runtime(), counting(1000));
  Buffer y = upload(*runtime(), std::vector<float>(1000, 0.0f));
  const std::vector<Argument> args = {x, y, 1.0};
  GraphBuilder builder(*runtime());
  const Node node = builder.kernel(scale, args, {}, {{"N", 1000}});
  GraphExec executable = builder.finish().instantiate();
  executable.update(node, args, {{"N", 0}});
  executable.launch(stream);
  stream.synchronize();
  EXPECT_EQ(download<float>(y)[999], 0.0f);
  executable.update(node, args, {{"N", 500}});
  executable.launch(stream);
  stream.synchronize();
  EXPECT_EQ(download<float>(y)[499], 500.0f);
  EXPECT_EQ(download<float>(y)[500], 0.0f);
}

/// 24 layers of 21 kernels: ten branches from the layer's input, added to it one after another,
/// then a normalisation.
class Layers {
 public:
  static constexpr int kLayers = 24, kBranches = 10;

  explicit Layers(Runtime& runtime)
      : runtime_(runtime),
        branch_(runtime.compile(branch())),
        add_(runtime.compile(add())),
        norm_(runtime.compile(normalise())) {
    state_ = upload(runtime, counting(64 * 1000));
    for (int i = 0; i < kBranches; ++i) branches_.emplace_back(runtime, 64 * 1000 * sizeof(float));
  }

  std::vector<float> in_stream(Stream stream) {
    reset();
    for (int layer = 0; layer < kLayers; ++layer) {
      for (int i = 0; i < kBranches; ++i) branch_.launch(stream, branch_args(layer, i));
      for (int i = 0; i < kBranches; ++i) add_.launch(stream, add_args(i));
      norm_.launch(stream, {state_, state_});
    }
    return result(stream);
  }

  std::vector<float> in_graph(Stream stream) {
    GraphBuilder builder(runtime_);
    After last;
    for (int layer = 0; layer < kLayers; ++layer) {
      std::vector<Node> ends;
      for (int i = 0; i < kBranches; ++i) {
        ends.push_back(builder.kernel(branch_, branch_args(layer, i), last));
      }
      last = ends;
      for (int i = 0; i < kBranches; ++i) last = builder.kernel(add_, add_args(i), last);
      last = builder.kernel(norm_, {state_, state_}, last);
    }
    const Graph graph = builder.finish();
    EXPECT_EQ(graph.size(), std::size_t{kLayers} * (2 * kBranches + 1));
    const GraphExec executable = graph.instantiate();
    reset();
    executable.launch(stream);
    return result(stream);
  }

 private:
  static Fused branch() {
    Fused op = make_op(f32, {{"x", "(64,1000):(1000,1)"}, {"y", "(64,1000):(1000,1)"}},
                       "y = tanh(x * s) + s");
    op.scalars = {{"s", f32}};
    return op;
  }
  static Fused add() {
    Fused op =
        make_op(f32, {{"x", "(64,1000):(1000,1)"}, {"y", "(64,1000):(1000,1)"}}, "x = x + y * 0.1");
    op.tensors[0].access = Access::inout;
    return op;
  }
  static Fused normalise() {
    return make_op(f32, {{"x", "(64,1000):(1000,1)"}, {"y", "(64,1000):(1000,1)"}},
                   "y = (x - mean(x)) * rsqrt(var(x) + 0.001)");
  }
  [[nodiscard]] std::vector<Argument> branch_args(int layer, int i) const {
    return {state_, branches_[static_cast<std::size_t>(i)], 0.01 * layer + 0.1 * i};
  }
  [[nodiscard]] std::vector<Argument> add_args(int i) const {
    return {state_, branches_[static_cast<std::size_t>(i)]};
  }
  void reset() {
    const std::vector<float> begin = counting(64 * 1000);
    state_.copy_from_host(begin.data(), begin.size() * sizeof(float));
  }
  std::vector<float> result(Stream stream) {
    const driver::Table& driver = driver::load_driver();
    EXPECT_EQ(driver.cuStreamSynchronize_(stream), CUDA_SUCCESS);
    return download<float>(state_);
  }

  Runtime& runtime_;
  Kernel branch_, add_, norm_;
  Buffer state_;
  std::vector<Buffer> branches_;
};

TEST_F(GraphsOnDevice, OfTwentyFourLayersGiveTheSameBitsAsAStream) {
  Layers layers(*runtime());
  const OwnedStream stream(*runtime());
  const std::vector<float> expected = layers.in_stream(stream), got = layers.in_graph(stream);
  ASSERT_EQ(expected.size(), got.size());
  EXPECT_EQ(std::memcmp(expected.data(), got.data(), got.size() * sizeof(float)), 0);
  EXPECT_NE(expected, std::vector<float>(expected.size(), expected[0]));
}

}  // namespace
}  // namespace tilejit::test
