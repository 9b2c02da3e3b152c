// Operations that take several kernels: what reaches the driver, and in which order.
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

class SeveralKernels : public testing::Test {
 protected:
  SeveralKernels() { fake.param_bytes = 48; }

  [[nodiscard]] Kernel load(const Fused& op) const {
    const front::Planned planned = front::make_planned(op, kTarget);
    Artifact artifact = hand_artifact();
    artifact.kernel_name = planned.plan.kernel_name;
    artifact.target = kTarget;
    const operation::LaunchPlan launch = planned.plan.body->launch();
    auto library = launch::load_library(Internals::context(runtime), artifact, launch);
    return Internals::make_kernel(std::move(library), artifact, op, planned.plan, launch);
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

TEST_F(SeveralKernels, AreLaunchedOneAfterAnotherWithMemoryBetweenThem) {
  {
    const Kernel kernel = load(normalised("(64,128):(128,1)"));
    EXPECT_EQ(fake.entries,
              (std::vector<std::string>{"tilejit_both_f32_part0", "tilejit_both_f32_part1"}));
    EXPECT_EQ(fake.libraries, 1);
    fake.calls.clear();
    kernel.launch(kStream, {on_device(0x10000), on_device(0x20000), 0.5});
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
        kernel.launch(kStream, {on_device(0x10000), on_device(0x20000), 0.5});
      });
      EXPECT_EQ(fake.buffers, 0) << "freed behind a failure too";
    }
    EXPECT_EQ(kernel.info().blocks_per_sm, 8);
  }
}

TEST_F(SeveralKernels, TakeMemoryFromOnePool) {
  const Kernel first = load(normalised("(64,128):(128,1)")),
               other = load(normalised("(32,128):(128,1)"));
  first.launch(kStream, {on_device(0x10000), on_device(0x20000), 0.5});
  other.launch(kStream, {on_device(0x10000), on_device(0x20000), 0.5});
  EXPECT_EQ(fake.count("cuMemAllocFromPoolAsync"), 2);
  EXPECT_EQ(fake.count("cuMemPoolCreate"), 1) << "a process has room for a few hundred";
}

TEST_F(SeveralKernels, TakeSizesFromTheirSymbols) {
  const Kernel kernel = load(normalised("(M,N):(N,1)"));
  const auto blocks = [&](std::int64_t m, std::int64_t n) {
    fake.launches.clear();
    kernel.launch(kStream, {on_device(0x10000), on_device(0x20000000), 0.5}, {{"M", m}, {"N", n}});
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
    kernel.launch(kStream, {on_device(0x10000), on_device(0x20000000), 0.5}, {{"N", 128}});
  });
}

TEST_F(SeveralKernels, AreBoundWithNewAddresses) {
  const Kernel kernel = load(normalised("(64,128):(128,1)"));
  BoundLaunch bound = kernel.bind({on_device(0x10000), on_device(0x20000), 0.5});
  bound.set(1, on_device(0x30000));
  bound.launch(kStream);
  ASSERT_EQ(fake.launches.size(), 2U);
  EXPECT_EQ(pointers_of(1, 3), (std::vector<std::uint64_t>{0x10000, 0x5000, 0x30000}));
}

TEST_F(SeveralKernels, TakeOptionsForTheFirstAndThePriorityForAll) {
  const Kernel kernel = load(normalised("(64,128):(128,1)"));
  const std::vector<Argument> args = {on_device(0x10000), on_device(0x20000), 0.5};
  kernel.launch(kStream, args, {}, {.overlap = true, .priority = -3});
  ASSERT_EQ(fake.launches.size(), 2U);
  EXPECT_EQ(fake.launches[0].attributes.size(), 1U) << "behind an allocation nothing overlaps";
  EXPECT_EQ(fake.launches[1].attributes.size(), 2U);
}

TEST_F(SeveralKernels, AreNodesOfAGraphOneAfterAnother) {
  const Kernel kernel = load(normalised("(M,N):(N,1)"));
  GraphBuilder builder(runtime);
  const auto args = [](std::uintptr_t y) {
    return std::vector<Argument>{on_device(0x10000), on_device(y), 0.5};
  };
  const Node before = builder.fill(on_device(0x10000), 0, 64);
  const Node node = builder.kernel(kernel, args(0x20000000), before, {{"M", 64}, {"N", 128}});
  const Node after = builder.join(node);
  EXPECT_EQ(after.number, 2U);
  const Graph graph = builder.finish();
  const FakeDriver::GraphNodes& nodes = fake.graph_nodes.at(graph.get());
  ASSERT_EQ(nodes.size(), 4U);
  const auto handle = [&](std::size_t i) { return reinterpret_cast<CUgraphNode>(nodes[i].get()); };
  EXPECT_EQ(nodes[1]->after, std::vector<CUgraphNode>{handle(0)});
  EXPECT_EQ(nodes[2]->after, std::vector<CUgraphNode>{handle(1)});
  EXPECT_EQ(nodes[3]->after, std::vector<CUgraphNode>{handle(2)});
  const auto workspace_of = [](const std::vector<std::byte>& params) {
    return field_at<std::uint64_t>(params.data(), 8);
  };
  const std::uint64_t first = workspace_of(nodes[1]->params);
  EXPECT_NE(first, 0U);
  EXPECT_EQ(workspace_of(nodes[2]->params), first) << "what the first leaves the second reads";
  GraphExec exec = graph.instantiate();
  exec.update(node, args(0x30000000), {{"M", 32}, {"N", 64}});
  ASSERT_EQ(fake.updates.size(), 2U);
  EXPECT_EQ(workspace_of(fake.updates[0].params), first) << "less fits, too";
  const int buffers = fake.buffers;
  exec.update(node, args(0x30000000), {{"M", 640}, {"N", 1280}});
  ASSERT_EQ(fake.updates.size(), 4U);
  EXPECT_EQ(fake.buffers, buffers + 1) << "more memory, and the old one stays";
  EXPECT_EQ(workspace_of(fake.updates[3].params), workspace_of(fake.updates[2].params));
  exec.update(node, args(0x30000000), {{"M", 64}, {"N", 0}});
  EXPECT_EQ(fake.updates.back().enabled, 0);
}

TEST_F(SeveralKernels, ComputeWhatReducesToOneOfNothing) {
  Fused op{.name = "nothing",
           .tensors = {{.name = "x", .dtype = f32, .layout = "(0,8):(8,1)"},
                       {.name = "y", .dtype = f32, .layout = "1:0"}},
           .formula = "y = sum(abs(sum(x, axis=0)), axis=1)"};
  load(op).launch(kStream, {on_device(0x10000), on_device(0x20000)});
  EXPECT_EQ(fake.launches.size(), 2U);
}

}  // namespace
}  // namespace tilejit
