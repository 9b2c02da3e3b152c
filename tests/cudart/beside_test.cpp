// Together with the CUDA runtime API in one process: its memory, streams and captures, one context.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "gpu/gpu_fixture.hpp"
#include "support/specs.hpp"

namespace tilejit::test {
namespace {

class Cudart : public Gpu {
 protected:
  void SetUp() override {
    Gpu::SetUp();
    if (IsSkipped()) return;
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&x_, kCount * sizeof(float)), cudaSuccess);
    const std::vector<float> ones(kCount, 1.0f);
    ASSERT_EQ(cudaMemcpy(x_, ones.data(), kCount * sizeof(float), cudaMemcpyDefault), cudaSuccess);
    ASSERT_EQ(cudaStreamCreate(&stream_), cudaSuccess);
  }
  void TearDown() override {
    if (IsSkipped()) return;
    cudaFree(x_);
    cudaStreamDestroy(stream_);
  }

  static Fused doubled() {
    Fused op = make_op(f32, {{"x", "(4096):(1)"}}, "x = x * 2");
    op.tensors[0].access = Access::inout;
    return op;
  }
  [[nodiscard]] float first() const {
    float value = 0;
    EXPECT_EQ(cudaMemcpy(&value, x_, sizeof value, cudaMemcpyDefault), cudaSuccess);
    return value;
  }

  static constexpr std::size_t kCount = 4096;
  void* x_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

TEST_F(Cudart, LaunchesOnItsMemoryAndStreams) {
  const Kernel kernel = runtime()->compile(doubled());
  for (const cudaStream_t stream :
       {stream_, cudaStream_t(nullptr), cudaStreamLegacy, cudaStreamPerThread}) {
    kernel.launch(stream, {x_});
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  }
  EXPECT_EQ(first(), 16.0f);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(Cudart, LaunchesIntoItsCapture) {
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  const Kernel kernel = runtime()->compile(doubled());
  kernel.launch(stream_, {x_});
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(first(), 8.0f);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

TEST_F(Cudart, MayResetTheDeviceBeforeOurObjectsGo) {
  Options options = runtime()->compiler().options();
  std::optional<Runtime> own(std::in_place, options);
  std::optional<Kernel> kernel = own->compile(doubled());
  std::optional<Buffer> buffer(std::in_place, *own, 1024);
  std::optional<OwnedStream> stream(std::in_place, *own);
  std::optional<Event> event(std::in_place, *own);
  GraphBuilder builder(*own);
  (void)builder.kernel(*kernel, {x_});
  std::optional<Graph> graph = builder.finish();
  std::optional<GraphExec> executable = graph->instantiate();
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  executable.reset();
  graph.reset();
  event.reset();
  stream.reset();
  buffer.reset();
  kernel.reset();
  own.reset();
  x_ = nullptr;  // gone with the context
  ASSERT_EQ(cudaStreamCreate(&stream_), cudaSuccess);
}

}  // namespace
}  // namespace tilejit::test
