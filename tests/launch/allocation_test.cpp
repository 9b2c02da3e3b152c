// Launches do not allocate memory.
#include <gtest/gtest.h>

#include <array>

#include "fake/fake_runtime.hpp"
#include "launch/counting_new.hpp"
#include "tilejit/bound_launch.hpp"
#include "tilejit/dispatcher.hpp"
#include "tilejit/graph.hpp"

namespace tilejit {
namespace {

using launch::Internals;

/// A driver whose launches record nothing, so that only the library can allocate.
class Allocations : public testing::Test {
 protected:
  Allocations() {
    fake.table.cuLaunchKernel_ = [](CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                                    unsigned, unsigned, CUstream, void**,
                                    void**) { return CUDA_SUCCESS; };
    fake.table.cuLaunchKernelEx_ = [](const CUlaunchConfig*, CUfunction, void**, void**) {
      return CUDA_SUCCESS;
    };
    fake.table.cuGraphExecKernelNodeSetParams_ =
        [](CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS*) { return CUDA_SUCCESS; };
  }

  template <typename Call>
  static int count(Call call) {
    call();  // the first one may fill caches
    const int before = allocations();
    call();
    return allocations() - before;
  }

  FakeDriver fake;
  Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
};

TEST_F(Allocations, AreCounted) {
  EXPECT_EQ(count([] { std::vector<int> one(7); }), 1);
}

TEST_F(Allocations, AreNotMadeByLaunches) {
  const Kernel kernel = load(runtime, hand_plan());
  const std::vector<Argument> args = hand_arguments();
  EXPECT_EQ(count([&] { kernel.launch(kStream, args); }), 0);
  const LaunchOptions options{.overlap = true, .priority = -1};
  EXPECT_EQ(count([&] { kernel.launch(kStream, args, {}, options); }), 0);
  BoundLaunch bound = kernel.bind(args);
  EXPECT_EQ(count([&] { bound.launch(kStream); }), 0);
  EXPECT_EQ(count([&] { bound.set(0, on_device(0x30000)); }), 0);
}

TEST_F(Allocations, AreNotMadeByLaunchesOfSymbolicSizes) {
  HandPlan plan;
  plan.in("x", "(M,N):(N,1)").out("y", "(M,N):(N,1)").dim("N").total();
  const Kernel kernel = load(runtime, plan);
  const std::array<std::int64_t, 2> shape = {64, 32}, stride = {32, 1};
  const std::vector<Argument> args = {{f32, on_device(0x10000), shape, stride},
                                      {f32, on_device(0x20000), shape, stride}};
  EXPECT_EQ(count([&] { kernel.launch(kStream, args); }), 0);
}

TEST_F(Allocations, AreNotMadeByUpdatesOfANode) {
  const Kernel kernel = load(runtime, hand_plan());
  const std::vector<Argument> args = hand_arguments();
  GraphBuilder builder(runtime);
  const Node node = builder.kernel(kernel, args);
  const Graph graph = builder.finish();
  GraphExec executable = graph.instantiate();
  const BoundLaunch bound = kernel.bind(args);
  EXPECT_EQ(count([&] { executable.update(node, args); }), 0);
  EXPECT_EQ(count([&] { executable.update(node, bound); }), 0);
}

TEST_F(Allocations, AreNotMadeByADispatcherThatKnowsTheTensors) {
  Dispatcher add(runtime, Fused{.name = "add",
                                .tensors = {{.name = "a"}, {.name = "b"}, {.name = "c"}},
                                .formula = "c = a + b"});
  const std::array<std::int64_t, 2> shape = {64, 32}, stride = {32, 1};
  const std::vector<Argument> args = {{f32, on_device(0x10000), shape, stride},
                                      {f32, on_device(0x20000), shape, stride},
                                      {f32, on_device(0x30000), shape, stride}};
  EXPECT_EQ(count([&] { add.launch(kStream, args); }), 0);
}

}  // namespace
}  // namespace tilejit
