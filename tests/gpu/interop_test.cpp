// Memory and tensors on a device: stream order, page-locked memory, DLPack, printing.
#include <cuda.h>

#include <numeric>
#include <optional>

#include "driver/driver.hpp"
#include "gpu/gpu_fixture.hpp"
#include "support/specs.hpp"
#include "tilejit/dlpack.hpp"
#include "tilejit/print_tensor.hpp"

namespace tilejit::test {
namespace {

class Interop : public Gpu {
 protected:
  void SetUp() override {
    Gpu::SetUp();
    if (!IsSkipped()) stream_.emplace(*runtime());
  }
  void TearDown() override { stream_.reset(); }

  [[nodiscard]] Stream stream() const { return *stream_; }
  void wait() const {
    ASSERT_EQ(driver::load_driver().cuStreamSynchronize_(stream()), CUDA_SUCCESS);
  }

 private:
  std::optional<OwnedStream> stream_;
};

Fused add_one(const char* layout) {
  return make_op(f32, {{"x", layout}, {"y", layout}}, "y = x + 1");
}

TEST_F(Interop, BuffersLiveInStreamOrder) {
  constexpr std::size_t kCount = 1 << 20;
  const Kernel kernel = runtime()->compile(add_one("1048576:1"));
  const HostBuffer sent(*runtime(), kCount * 4), received(*runtime(), kCount * 4);
  std::iota(sent.as<float>().begin(), sent.as<float>().end(), 0.0F);
  for (int round = 0; round < 8; ++round) {  // the next round reuses this round's memory
    Buffer x(*runtime(), kCount * 4, stream()), y(*runtime(), kCount * 4, stream());
    x.copy_from_host_async(sent.data(), kCount * 4, stream());
    kernel.launch(stream(), {x, y});
    kernel.launch(stream(), {y, x});
    x.copy_to_host_async(received.data(), kCount * 4, stream());
  }
  wait();
  for (std::size_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(received.as<float>()[i], static_cast<float>(i) + 2.0F) << i;
  }
}

TEST_F(Interop, BuffersCopyAndWaitOnTheirStream) {
  Buffer buffer(*runtime(), 16, stream());
  const std::vector<float> sent = {1, 2, 3, 4};
  std::vector<float> back(4);
  buffer.copy_from_host(sent.data(), 16);
  buffer.copy_to_host(back.data(), 16);
  EXPECT_EQ(back, sent);
}

TEST_F(Interop, TensorsGoToAndFroByDlpack) {
  const auto memory = std::make_shared<Buffer>(*runtime(), 24);
  const std::vector<float> numbers = {0, 1, 2, 3, 4, 5};
  memory->copy_from_host(numbers.data(), 24);
  const DlpackView rows = dlpack_view(*runtime(), *memory, f32, {2, 3});
  const DlpackTensor x(to_dlpack_versioned(rows, memory));
  const DlpackTensor y(to_dlpack(rows, memory));
  Fused op{.name = "dlpack",
           .tensors = {x.describe("x"), y.describe("y", Access::out)},
           .formula = "y = x * 2 + 1"};
  Buffer result(*runtime(), 24);
  const DlpackView columns = dlpack_view(*runtime(), result, f32, {2, 3}, {1, 2});
  const DlpackTensor transposed(to_dlpack_versioned(columns, nullptr));
  op.tensors[1] = transposed.describe("y");
  runtime()->compile(op).launch(
      nullptr, {x.argument(*runtime()), transposed.argument(*runtime(), Access::out)});
  std::vector<float> got(6);
  result.copy_to_host(got.data(), 24);
  EXPECT_EQ(got, (std::vector<float>{1, 7, 3, 9, 5, 11}));
}

TEST_F(Interop, PrintsDeviceMemoryAsHostMemory) {
  std::vector<float> numbers(100 * 64);
  std::iota(numbers.begin(), numbers.end(), 0.0F);
  Buffer buffer(*runtime(), numbers.size() * 4);
  buffer.copy_from_host(numbers.data(), numbers.size() * 4);
  for (const char* layout : {"(100,64):(64,1)", "(100,64):(1,100)", "((10,10),64):((1,10),100)"}) {
    for (const bool verbose : {false, true}) {
      const PrintOptions options{.verbose = verbose};
      const std::string device =
          print_tensor(*runtime(), stream(), f32, layout, buffer.data(), options);
      const std::string host = print_tensor(f32, layout, numbers.data(), options);
      EXPECT_NE(device.find(": f32, gmem, align<4>) o "), std::string::npos);
      EXPECT_EQ(device.substr(device.find(" o ")), host.substr(host.find(" o ")));
    }
  }
}

}  // namespace
}  // namespace tilejit::test
