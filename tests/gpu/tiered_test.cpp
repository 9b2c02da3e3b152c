// CompileEffort::tiered on a device: quick and full builds, and a graph that has the quick one.
#include <array>
#include <chrono>
#include <thread>
#include <vector>

#include "driver/driver.hpp"
#include "gpu/gpu_fixture.hpp"

namespace tilejit::test {
namespace {

constexpr std::int64_t kElements = 4099;

class Tiered : public Gpu {
 protected:
  void SetUp() override {
    Gpu::SetUp();
    if (IsSkipped()) return;
    Options options;
    options.compile_effort = CompileEffort::tiered;
    options.cache_folder = {};  // no run finds an entry of another one
    tiered_ = std::make_unique<Runtime>(options);
  }

  [[nodiscard]] Fused operation() const {
    const std::string layout = std::to_string(kElements) + ":1";
    return {.name = "tiered",
            .tensors = {{"x", f32, layout}, {"y", f32, layout, Access::inout}},
            .formula = "y = y + x"};
  }

  void expect_sum(const Buffer& y, float each) const {
    std::vector<float> got(kElements);
    y.copy_to_host(got.data(), got.size() * sizeof(float));
    for (const float value : got) ASSERT_EQ(value, each);
  }

  std::unique_ptr<Runtime> tiered_;
};

TEST_F(Tiered, BuildsComputeTheSameAndGraphsKeepTheirs) {
  const driver::Table& driver = driver::load_driver();
  const Kernel kernel = tiered_->compile(operation());
  const std::string quick = kernel.artifact().key;
  Buffer x(*tiered_, kElements * sizeof(float)), y(*tiered_, kElements * sizeof(float));
  const std::vector<float> ones(kElements, 1.0f), zeros(kElements, 0.0f);
  x.copy_from_host(ones.data(), kElements * sizeof(float));
  y.copy_from_host(zeros.data(), kElements * sizeof(float));

  CUstream stream = nullptr;
  ASSERT_EQ(driver.cuStreamCreate_(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuStreamBeginCapture_(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  for (int i = 0; i < 3; ++i) kernel.launch(stream, {x, y});
  // The full build arrives, and is loaded, while the capture continues.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (tiered_->compiler().service_stats().swaps == 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  kernel.launch(stream, {x, y});
  CUgraph graph = nullptr;
  ASSERT_EQ(driver.cuStreamEndCapture_(stream, &graph), CUDA_SUCCESS);
  EXPECT_EQ(tiered_->compiler().service_stats().swaps, 1U);
  EXPECT_NE(kernel.artifact().key, quick);

  CUgraphExec executable = nullptr;
  ASSERT_EQ(driver.cuGraphInstantiate_(&executable, graph, 0), CUDA_SUCCESS);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(driver.cuGraphLaunch_(executable, stream), CUDA_SUCCESS);
  kernel.launch(stream, {x, y});
  ASSERT_EQ(driver.cuStreamSynchronize_(stream), CUDA_SUCCESS);
  expect_sum(y, 9.0f);
  driver.cuGraphExecDestroy_(executable);
  driver.cuGraphDestroy_(graph);
  driver.cuStreamDestroy_(stream);
}

/// Rows in clusters, and scanned rows: light plans first, whose launches have other shapes.
TEST_F(Tiered, LightPlansAgreeWithTheReference) {
  for (const char* formula :
       {"y = (x - mean(x)) * rsqrt(var(x) + 0.001)", "e = exp(x - max(x)); y = cumsum(e) / sum(e)",
        "y = x * 0.5 + sum(x)", "y = relu((x @ x.T) @ x)"}) {
    const Fused op = {
        .name = "light",
        .tensors = {{"x", f32, "(96,8191):(8192,1)"}, {"y", f32, "(96,8191):(8192,1)"}},
        .formula = formula};
    const auto swaps = tiered_->compiler().service_stats().swaps;
    const Kernel kernel = tiered_->compile(op);
    std::vector<float> x(96 * 8192), y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 1000) / 1000;
    Buffer in(*tiered_, x.size() * sizeof(float)), out(*tiered_, x.size() * sizeof(float));
    in.copy_from_host(x.data(), x.size() * sizeof(float));
    const auto expect_agreement = [&] {
      y.assign(y.size(), -1.0f);
      out.copy_from_host(y.data(), y.size() * sizeof(float));
      kernel.launch(nullptr, {in, out});
      out.copy_to_host(y.data(), y.size() * sizeof(float));
      const HostArguments inputs{.tensors = {x.data(), nullptr}, .scalars = {}, .symbols = {}};
      const std::array<const void*, 2> actual = {x.data(), y.data()};
      const Verification result = verify(op, inputs, actual);
      EXPECT_TRUE(result.passed) << formula << ": " << result.first_mismatch;
    };
    expect_agreement();
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (tiered_->compiler().service_stats().swaps == swaps &&
           std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(tiered_->compiler().service_stats().swaps, swaps + 1);
    expect_agreement();
  }
}

TEST_F(Tiered, DevicesArePreparedFully) {
  const std::vector<Operation> ops = {operation()};
  const std::vector<Kernel> kernels = tiered_->prepare(ops);
  EXPECT_EQ(tiered_->compiler().service_stats().quick_builds, 0U);
  Buffer x(*tiered_, kElements * sizeof(float)), y(*tiered_, kElements * sizeof(float));
  const std::vector<float> ones(kElements, 1.0f);
  x.copy_from_host(ones.data(), kElements * sizeof(float));
  y.copy_from_host(ones.data(), kElements * sizeof(float));
  kernels.at(0).launch(nullptr, {x, y});
  expect_sum(y, 2.0f);
}

}  // namespace
}  // namespace tilejit::test
