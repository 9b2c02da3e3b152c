// Operations that take several kernels: what reaches the driver, and in which order.
#include "launch/stages.hpp"

#include <gtest/gtest.h>

#include "fake/expect_error.hpp"
#include "fake/fake_runtime.hpp"
#include "front/compiler_impl.hpp"
#include "tilejit/bound_launch.hpp"
#include "tilejit/graph.hpp"

namespace tilejit {
namespace {

using launch::Internals;

Fused normalised(const char* layout) {
  return {.name = "both",
          .tensors = {{.name = "x", .dtype = f32, .layout = layout},
                      {.name = "y", .dtype = f32, .layout = layout}},
          .scalars = {{.name = "s", .dtype = f16}},
          .formula = "y = x * s / sum(x, axis=1) / sum(x, axis=0)"};
}

class StagedKernels : public testing::Test {
 protected:
  StagedKernels() { fake.param_bytes = 48; }

  [[nodiscard]] Kernel load(const Fused& op) const {
    const front::Planned planned = front::make_planned(op, kTarget);
    Artifact artifact = hand_artifact();
    artifact.kernel_name = planned.plan.kernel_name;
    artifact.target = kTarget;
    auto library = launch::load_library(Internals::context(runtime), artifact, planned.plan);
    return Internals::make_kernel(std::move(library), artifact, op, planned.analysis, planned.plan);
  }
  [[nodiscard]] std::vector<std::uint64_t> pointers_of(std::size_t launch, int count) const {
    std::vector<std::uint64_t> pointers;
    for (int i = 0; i < count; ++i) {
      pointers.push_back(field_at<std::uint64_t>(fake.launches.at(launch).params.data(), 8 * i));
    }
    return pointers;
  }

  static constexpr Target kTarget = {.major = 9, .minor = 0, .feature = 'a'};
  FakeDriver fake;
  Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
};

TEST_F(StagedKernels, AreLaunchedOneAfterAnotherWithMemoryBetweenThem) {
  {
    const Kernel kernel = load(normalised("(64,128):(128,1)"));
    EXPECT_EQ(fake.entries,
              (std::vector<std::string>{"tilejit_both_f32_stage0", "tilejit_both_f32_stage1"}));
    EXPECT_EQ(fake.libraries, 1);
    fake.calls.clear();
    kernel.launch(kStream, {device(0x10000), device(0x20000), 0.5});
    EXPECT_EQ(fake.calls, (std::vector<std::string>{"cuCtxPushCurrent", "cuMemAllocFromPoolAsync",
                                                    "cuLaunchKernel", "cuLaunchKernelEx",
                                                    "cuMemFreeAsync", "cuCtxPopCurrent"}));
    ASSERT_EQ(fake.launches.size(), 2U);
    EXPECT_EQ(pointers_of(0, 2), (std::vector<std::uint64_t>{0x10000, 0x5000}));
    EXPECT_EQ(pointers_of(1, 3), (std::vector<std::uint64_t>{0x10000, 0x5000, 0x20000}));
    EXPECT_EQ(field_at<float>(fake.launches[1].params.data(), 24), 0.5F);
    EXPECT_EQ(fake.launches[0].function, reinterpret_cast<CUfunction>(1));
    EXPECT_EQ(fake.launches[1].function, reinterpret_cast<CUfunction>(2));
    EXPECT_FALSE(fake.launches[0].overlaps);
    EXPECT_TRUE(fake.launches[1].overlaps) << "starts while the first one ends";
    EXPECT_EQ(fake.freed_on, std::vector<CUstream>{kStream});
    for (const char* call : {"cuLaunchKernel", "cuLaunchKernelEx"}) {
      fake.fail_on = {{call, CUDA_ERROR_UNKNOWN}};
      expect_error(ErrorCode::driver_call, call, [&] {
        kernel.launch(kStream, {device(0x10000), device(0x20000), 0.5});
      });
      EXPECT_EQ(fake.buffers, 0) << "freed behind a failure too";
    }
    EXPECT_EQ(kernel.info().blocks_per_sm, 8);
  }
}

TEST_F(StagedKernels, TakeSizesFromTheirSymbols) {
  const Kernel kernel = load(normalised("(M,N):(N,1)"));
  const auto blocks = [&](std::int64_t m, std::int64_t n) {
    fake.launches.clear();
    kernel.launch(kStream, {device(0x10000), device(0x20000000), 0.5}, {{"M", m}, {"N", n}});
    std::vector<unsigned> counts;
    for (const FakeDriver::Launch& launch : fake.launches) counts.push_back(launch.blocks);
    return counts;
  };
  const std::vector<unsigned> few = blocks(64, 128), more_rows = blocks(6400, 128),
                              more_columns = blocks(64, 12800);
  ASSERT_EQ(few.size(), 2U);
  EXPECT_EQ(more_rows[0], 100 * few[0]);
  EXPECT_EQ(more_rows[1], few[1]);
  EXPECT_EQ(more_columns[0], few[0]);
  EXPECT_EQ(more_columns[1], 100 * few[1]);
  expect_error(ErrorCode::invalid_argument, "M", [&] {
    kernel.launch(kStream, {device(0x10000), device(0x20000000), 0.5}, {{"N", 128}});
  });
}

TEST_F(StagedKernels, AreBoundWithNewAddresses) {
  const Kernel kernel = load(normalised("(64,128):(128,1)"));
  BoundLaunch bound = kernel.bind({device(0x10000), device(0x20000), 0.5});
  bound.set(1, device(0x30000));
  bound.launch(kStream);
  ASSERT_EQ(fake.launches.size(), 2U);
  EXPECT_EQ(pointers_of(1, 3), (std::vector<std::uint64_t>{0x10000, 0x5000, 0x30000}));
}

TEST_F(StagedKernels, RefuseWhatIsOfOneKernel) {
  const Kernel kernel = load(normalised("(64,128):(128,1)"));
  const std::vector<Argument> args = {device(0x10000), device(0x20000), 0.5};
  GraphBuilder builder(runtime);
  expect_error(ErrorCode::unsupported, "capture its launch",
               [&] { (void)builder.kernel(kernel, args); });
  expect_error(ErrorCode::unsupported, "overlap and priority",
               [&] { kernel.launch(kStream, args, {}, {.cluster = 2}); });
  kernel.launch(kStream, args, {}, {.overlap = true, .priority = -3});
  ASSERT_EQ(fake.launches.size(), 2U);
  EXPECT_EQ(fake.launches[0].attributes.size(), 1U) << "behind an allocation nothing overlaps";
  EXPECT_EQ(fake.launches[1].attributes.size(), 2U);
}

TEST_F(StagedKernels, ComputeWhatReducesToOneOfNothing) {
  Fused op{.name = "nothing",
           .tensors = {{.name = "x", .dtype = f32, .layout = "(0,8):(8,1)"},
                       {.name = "y", .dtype = f32, .layout = "1:0"}},
           .formula = "y = sum(sum(x, axis=0), axis=1)"};
  load(op).launch(kStream, {device(0x10000), device(0x20000)});
  EXPECT_EQ(fake.launches.size(), 2U);
}

}  // namespace
}  // namespace tilejit
