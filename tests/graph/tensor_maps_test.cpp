// Nodes of kernels that take tensor maps, and their updates.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fake/expect_error.hpp"
#include "fake/fake_runtime.hpp"
#include "operation/boxes.hpp"
#include "tilejit/bound_launch.hpp"
#include "tilejit/graph.hpp"

namespace tilejit {
namespace {

using launch::Internals;

class GraphTensorMaps : public testing::Test {
 protected:
  GraphTensorMaps() { fake.param_bytes = 192; }

  static std::uint64_t map_address(const std::vector<std::byte>& params) {
    return field_at<std::uint64_t>(params.data(), 64 + 8);
  }
  [[nodiscard]] const FakeDriver::GraphNode& node(const Graph& graph, std::size_t i) const {
    return *fake.graph_nodes.at(graph.get()).at(i);
  }
  static std::vector<Argument> at(std::uintptr_t x) {
    return {on_device(x), on_device(0x40000000)};
  }

  static constexpr const char* kEncode = "cuTensorMapEncodeTiled";
  FakeDriver fake;
  Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
};

TEST_F(GraphTensorMaps, AreEncodedForNodesAndUpdates) {
  const Kernel kernel = load(runtime, test::boxes({.symbols = {{"S", 8}}}));
  const SymbolValues sizes = {{"M", 64}, {"N", 64}, {"S", 64}, {"L", 4096}};
  GraphBuilder builder(runtime);
  const Node first = builder.kernel(kernel, at(0x10000), {}, sizes);
  const Node second = builder.kernel(kernel, at(0x20000), first, sizes);
  const Graph graph = builder.finish();
  EXPECT_EQ(map_address(node(graph, 0).params), 0x10000U);
  EXPECT_EQ(map_address(node(graph, 1).params), 0x20000U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(node(graph, 0).params_at) % 64, 0U);
  EXPECT_EQ(fake.count(kEncode), 2);

  GraphExec exec = graph.instantiate();
  exec.update(second, at(0x30000), sizes);
  EXPECT_EQ(map_address(fake.updates.back().params), 0x30000U);
  EXPECT_EQ(fake.count(kEncode), 3);
  exec.update(second, at(0x20000), sizes);
  EXPECT_EQ(map_address(fake.updates.back().params), 0x20000U);
  EXPECT_EQ(fake.count(kEncode), 3) << "known";
  SymbolValues fewer = sizes;
  fewer["M"] = 33;
  exec.update(first, at(0x10000), fewer);
  EXPECT_EQ(fake.tensor_maps.back().extents[1], 33U);
  BoundLaunch bound = kernel.bind(at(0x50000), sizes);
  exec.update(first, bound);
  EXPECT_EQ(map_address(fake.updates.back().params), 0x50000U);

  const std::size_t updates = fake.updates.size();
  fake.fail_on[kEncode] = CUDA_ERROR_UNKNOWN;
  expect_error(ErrorCode::driver_call, "the driver refused the tensor map 'x' of tensor 'x'",
               [&] { exec.update(first, at(0x60000), sizes); });
  expect_error(ErrorCode::invalid_argument, "is aligned to 8 bytes only",
               [&] { exec.update(first, at(0x60008), sizes); });
  EXPECT_EQ(fake.updates.size(), updates) << "the node stays as it was";
}

/// Memory belongs to the graph, and to each of its copies; updates may need more.
TEST_F(GraphTensorMaps, OfAWorkspaceFollowIt) {
  test::Boxes op;
  op.tensors[0].align = 2;
  const Kernel kernel = load(runtime, test::boxes(op));
  const SymbolValues sizes = {{"M", 64}, {"N", 60}, {"S", 61}, {"L", 4096}};
  GraphBuilder builder(runtime);
  const Node both = builder.kernel(kernel, at(0x10002), {}, sizes);
  const Graph graph = builder.finish();
  const auto workspace_of = [](const std::vector<std::byte>& params) {
    return field_at<std::uint64_t>(params.data(), 8);
  };
  const std::uint64_t own = workspace_of(node(graph, 0).params);
  EXPECT_EQ(map_address(node(graph, 1).params), own);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(node(graph, 1).params_at) % 64, 0U);

  const Graph copy = graph.clone();
  const std::uint64_t other = workspace_of(node(copy, 0).params);
  EXPECT_NE(other, own);
  EXPECT_EQ(map_address(node(copy, 1).params), other);

  GraphExec exec = graph.instantiate();
  exec.update(both, at(0x20002), sizes);
  ASSERT_EQ(fake.updates.size(), 2U);
  EXPECT_EQ(map_address(fake.updates[1].params), own);
  SymbolValues more = sizes;
  more["M"] = 6400;
  exec.update(both, at(0x20002), more);
  ASSERT_EQ(fake.updates.size(), 4U);
  const std::uint64_t grown = workspace_of(fake.updates[2].params);
  EXPECT_NE(grown, own);
  EXPECT_EQ(map_address(fake.updates[3].params), grown);
  EXPECT_EQ(fake.tensor_maps.back().extents[1], 6400U);
}

}  // namespace
}  // namespace tilejit
