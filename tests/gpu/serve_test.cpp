// A sealed Runtime, fallbacks and compiling during capture on a device.
#include <cuda.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "driver/driver.hpp"
#include "gpu/device_data.hpp"
#include "gpu/gpu_fixture.hpp"
#include "support/specs.hpp"
#include "tilejit/cache/store.hpp"

namespace tilejit::test {
namespace {

class ServeOnGpu : public Gpu {
 protected:
  static Runtime fresh(MissPolicy policy = MissPolicy::allow) {
    Options options = Options::from_env();
    options.cache_folder.reset();
    options.tuning_file.reset();
    options.miss_policy = policy;
    return Runtime(options);
  }
};

Fused double_op(const std::string& layout) {
  return make_op(f32, {{"x", layout}, {"y", layout}}, "y = x + x");
}

TEST_F(ServeOnGpu, SealedLaunchesWhatWasPrepared) {
  Runtime sealed = fresh();
  const std::vector<Operation> ops = {double_op("1000:1"), double_op("2000:1")};
  (void)sealed.prepare(ops);
  sealed.seal();
  const Buffer x = upload(*runtime(), std::vector<float>(1000, 3.0f));
  const Buffer y = upload(*runtime(), std::vector<float>(1000, 0.0f));
  sealed.compile(ops[0]).launch(nullptr, {x, y});
  EXPECT_EQ(download<float>(y), std::vector<float>(1000, 6.0f));
  EXPECT_THROW((void)sealed.compile(double_op("3000:1")), MissError);
}

TEST_F(ServeOnGpu, FallbackComputesTheSame) {
  Runtime rt = fresh();
  const Fused general = double_op("(M,N):(N,1)");
  (void)rt.compile(general);
  // The policy of a Runtime is constant, so a second one gets the general kernel's cubin.
  Runtime strict = fresh(MissPolicy::fallback);
  const Artifact artifact = rt.compile(general).artifact();
  strict.compiler().cache().put(artifact.key, {*artifact.cubin, *artifact.metadata});
  (void)strict.compile(general);
  const Kernel kernel = strict.compile(double_op("(10,100):(100,1)"));
  ASSERT_TRUE(kernel.is_fallback());
  const Buffer x = upload(*runtime(), std::vector<float>(1000, 3.0f));
  const Buffer y = upload(*runtime(), std::vector<float>(1000, 0.0f));
  kernel.launch(nullptr, {x, y});
  EXPECT_EQ(download<float>(y), std::vector<float>(1000, 6.0f));
}

TEST_F(ServeOnGpu, CompilesLoadsAndLaunchesWhileCapturing) {
  const driver::Table& driver = driver::load_driver();
  for (const CUstreamCaptureMode mode :
       {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
        CU_STREAM_CAPTURE_MODE_RELAXED}) {
    SCOPED_TRACE(mode);
    Runtime rt = fresh();
    rt.make_current();
    const int elements = 1 << 20;
    const Buffer x = upload(*runtime(), std::vector<float>(elements, 3.0f));
    const Buffer y = upload(*runtime(), std::vector<float>(elements, 0.0f));
    const Buffer sum = upload(*runtime(), std::vector<float>(1, 0.0f));
    // The second kernel leaves partial sums in memory from a pool that loading creates.
    const Fused doubled = double_op("1048576:1");
    const Fused total = make_op(f32, {{"y", "1048576:1"}, {"s", "1:1"}}, "s = sum(y)");
    CUstream stream = nullptr;
    ASSERT_EQ(driver.cuStreamCreate_(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(driver.cuStreamBeginCapture_(stream, mode), CUDA_SUCCESS);
    rt.compile(doubled, stream).launch(stream, {x, y});
    rt.compile(total, stream).launch(stream, {y, sum});
    CUgraph graph = nullptr;
    ASSERT_EQ(driver.cuStreamEndCapture_(stream, &graph), CUDA_SUCCESS);
    CUgraphExec executable = nullptr;
    ASSERT_EQ(driver.cuGraphInstantiate_(&executable, graph, 0), CUDA_SUCCESS);
    ASSERT_EQ(driver.cuGraphLaunch_(executable, stream), CUDA_SUCCESS);
    ASSERT_EQ(driver.cuStreamSynchronize_(stream), CUDA_SUCCESS);
    EXPECT_EQ(download<float>(sum)[0], 6.0f * elements);
    EXPECT_EQ(rt.compiler().metrics().compiled_in_capture, 2u);
    driver.cuGraphExecDestroy_(executable);
    driver.cuGraphDestroy_(graph);
    driver.cuStreamDestroy_(stream);
  }
}

}  // namespace
}  // namespace tilejit::test
