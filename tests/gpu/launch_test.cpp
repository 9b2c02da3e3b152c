// Launching on a device: streams, capture, in-place operation, refusals, sizes beyond 2^31
// elements.
#include <cuda.h>

#include <cstring>
#include <thread>

#include "driver/driver.hpp"
#include "gpu/device_data.hpp"
#include "gpu/gpu_fixture.hpp"
#include "support/specs.hpp"

namespace tilejit::test {
namespace {

class Launch : public Gpu {
 protected:
  void SetUp() override {
    Gpu::SetUp();
    if (IsSkipped()) return;
    driver_ = &driver::load_driver();
  }

  const driver::Table* driver_ = nullptr;
};

Fused add_f32(const std::string& layout) {
  return make_op(f32, {{"a", layout}, {"b", layout}, {"c", layout}}, "c = a + b");
}

TEST_F(Launch, OnEveryKindOfStream) {
  const Kernel kernel = runtime()->compile(add_f32("(1000):(1)"));
  const Buffer a = upload(*runtime(), counting(1000)),
               b = upload(*runtime(), std::vector<float>(1000, 2.0f));
  CUstream blocking = nullptr, non_blocking = nullptr;
  ASSERT_EQ(driver_->cuStreamCreate_(&blocking, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  ASSERT_EQ(driver_->cuStreamCreate_(&non_blocking, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  for (const CUstream stream : {CUstream(nullptr), CU_STREAM_PER_THREAD, blocking, non_blocking}) {
    Buffer c = upload(*runtime(), std::vector<float>(1000, -1.0f));
    kernel.launch(stream, {a, b, c});
    ASSERT_EQ(driver_->cuStreamSynchronize_(stream), CUDA_SUCCESS);
    const std::vector<float> got = download<float>(c);
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], static_cast<float>(i) + 2.0f);
  }
  driver_->cuStreamDestroy_(blocking);
  driver_->cuStreamDestroy_(non_blocking);
}

TEST_F(Launch, IntoAGraph) {
  const Kernel kernel = runtime()->compile(add_f32("(777):(1)"));
  const Buffer a = upload(*runtime(), counting(777));
  Buffer c = upload(*runtime(), std::vector<float>(777, 0.0f));
  CUstream stream = nullptr;
  ASSERT_EQ(driver_->cuStreamCreate_(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(driver_->cuStreamBeginCapture_(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  for (int i = 0; i < 3; ++i) kernel.launch(stream, {a, c, c});  // c += a
  CUgraph graph = nullptr;
  ASSERT_EQ(driver_->cuStreamEndCapture_(stream, &graph), CUDA_SUCCESS);
  CUgraphExec executable = nullptr;
  ASSERT_EQ(driver_->cuGraphInstantiate_(&executable, graph, 0), CUDA_SUCCESS);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(driver_->cuGraphLaunch_(executable, stream), CUDA_SUCCESS);
  ASSERT_EQ(driver_->cuStreamSynchronize_(stream), CUDA_SUCCESS);
  const std::vector<float> got = download<float>(c);
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], 6.0f * static_cast<float>(i));
  driver_->cuGraphExecDestroy_(executable);
  driver_->cuGraphDestroy_(graph);
  driver_->cuStreamDestroy_(stream);
}

TEST_F(Launch, FromAThreadWithoutAContext) {
  const Kernel kernel = runtime()->compile(add_f32("(64):(1)"));
  const Buffer a = upload(*runtime(), counting(64));
  Buffer c = upload(*runtime(), std::vector<float>(64, 0.0f));
  std::string failure;
  std::thread([&] {
    try {
      kernel.launch(nullptr, {a, a, c});
    } catch (const Error& error) {
      failure = error.what();
    }
  }).join();
  EXPECT_EQ(failure, "");
  EXPECT_EQ(download<float>(c)[63], 126.0f);
}

TEST_F(Launch, SymbolsComeFromTensors) {
  const Fused op =
      make_op(f32, {{"a", "(M,N):(N,1)"}, {"b", "(N):(1)"}, {"c", "(M,N):(N,1)"}}, "c = a * b");
  const Kernel kernel = runtime()->compile(op);
  for (const auto& [m, n] :
       {std::pair<std::int64_t, std::int64_t>{1, 1}, {3, 5}, {70, 129}, {0, 4}, {257, 1024}}) {
    SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n));
    const auto count = static_cast<std::size_t>(m * n);
    const Buffer a = upload(*runtime(), counting(count)),
                 b = upload(*runtime(), counting(static_cast<std::size_t>(n)));
    Buffer c = upload(*runtime(), std::vector<float>(count, -1.0f));
    const std::int64_t shape[] = {m, n}, stride[] = {n, 1}, bias_shape[] = {n}, bias_stride[] = {1};
    kernel.launch(nullptr, {{f32, a.data(), shape, stride},
                            {f32, b.data(), bias_shape, bias_stride},
                            {f32, c.data(), shape, stride}});
    const std::vector<float> got = download<float>(c);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(got[i],
                static_cast<float>(i) * static_cast<float>(i % static_cast<std::size_t>(n)));
    }
  }
}

TEST_F(Launch, RefusesWhatContradictsTheDescriptor) {
  const Kernel kernel = runtime()->compile(add_f32("(64):(1)"));
  const Buffer a = upload(*runtime(), counting(128));
  Buffer c = upload(*runtime(), std::vector<float>(128, 5.0f));
  char* const base = static_cast<char*>(c.data());
  const std::int64_t shape[] = {63}, stride[] = {1};
  const std::vector<std::vector<Argument>> bad = {
      {a, a},                                         // too few
      {a, a, static_cast<void*>(base + 4)},           // not aligned as promised
      {a, {f32, a.data(), shape, stride}, c},         // another shape
      {static_cast<void*>(base + 16), a, c},          // overlaps the output, but not exactly
      {a, a, Argument(static_cast<void*>(nullptr))},  // nowhere
      {a, 3, c},                                      // a number for a tensor
  };
  for (const std::vector<Argument>& args : bad) {
    try {
      kernel.launch(nullptr, args);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
    }
  }
  EXPECT_EQ(download<float>(c), std::vector<float>(128, 5.0f));
}

TEST_F(Launch, MoreThanTwoToThe31Elements) {
  const std::int64_t count = (std::int64_t{1} << 32) + 12345;
  if (runtime()->device().memory_bytes < std::size_t(count) + (std::size_t{1} << 30)) {
    GTEST_SKIP() << "needs 5 GB of device memory";
  }
  for (const bool symbolic : {false, true}) {
    const std::string layout = symbolic ? "(N):(1)" : "(" + std::to_string(count) + "):(1)";
    Fused op = make_op(u8, {{"x", layout}}, "x = x * 3 + 1");
    op.tensors[0].access = Access::inout;
    Buffer x(*runtime(), static_cast<std::size_t>(count));
    ASSERT_EQ(driver_->cuMemsetD8Async_(reinterpret_cast<CUdeviceptr>(x.data()), 7,
                                        std::size_t(count), nullptr),
              CUDA_SUCCESS);
    const std::vector<Argument> args = {x};
    runtime()->compile(op).launch(nullptr, args,
                                  symbolic ? SymbolValues{{"N", count}} : SymbolValues{});
    std::vector<unsigned char> got(static_cast<std::size_t>(count));
    x.copy_to_host(got.data(), got.size());
    EXPECT_EQ(std::count(got.begin(), got.end(), 22), count);
  }
}

TEST_F(Launch, StridedTotalsBeyondTwoToThe31UseTheWideEntry) {
  // A transposed view keeps two modes; slightly more than 2^31 elements of one byte.
  const std::int64_t m = 46341, n = 46345;
  if (runtime()->device().memory_bytes < std::size_t(6) << 30)
    GTEST_SKIP() << "needs 6 GB of device memory";
  const Fused op = make_op(u8, {{"x", "(M,N):(1,M)"}, {"y", "(M,N):(N,1)"}}, "y = x + 1");
  const auto bytes = static_cast<std::size_t>(m * n);
  Buffer x(*runtime(), bytes), y(*runtime(), bytes);
  std::vector<unsigned char> host(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    host[i] = static_cast<unsigned char>((i * 2654435761u) >> 24);
  x.copy_from_host(host.data(), bytes);
  const std::vector<Argument> args = {x, y};
  runtime()->compile(op).launch(nullptr, args, {{"M", m}, {"N", n}});
  std::vector<unsigned char> got(bytes);
  y.copy_to_host(got.data(), bytes);
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      wrong += got[std::size_t(i * n + j)] !=
               static_cast<unsigned char>(host[std::size_t(i + j * m)] + 1);
    }
  }
  EXPECT_EQ(wrong, 0);
}

TEST_F(Launch, KernelOutlivesItsRuntime) {
  Options options = Options::from_env();
  options.cache_folder.reset();
  auto own = std::make_unique<Runtime>(options);
  const Kernel kernel = own->compile(add_f32("(32):(1)"));
  own.reset();
  const Buffer a = upload(*runtime(), counting(32));
  Buffer c = upload(*runtime(), std::vector<float>(32, 0.0f));
  kernel.launch(nullptr, {a, a, c});
  EXPECT_EQ(download<float>(c)[31], 62.0f);
}

TEST_F(Launch, InfoComesFromTheDriver) {
  const KernelInfo info = runtime()->compile(add_f32("(4096):(1)")).info();
  EXPECT_GT(info.registers, 0);
  EXPECT_EQ(info.local_bytes, 0);
  EXPECT_EQ(info.threads, 256);
  EXPECT_GT(info.blocks_per_sm, 0);
}

}  // namespace
}  // namespace tilejit::test
