#include "tilejit/graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fake/expect_error.hpp"
#include "fake/fake_runtime.hpp"
#include "fake/shared_rows.hpp"

namespace tilejit {
namespace {

using launch::Internals;

class Graphs : public testing::Test {
 protected:
  Graphs() { fake.param_bytes = 20; }

  /// The nodes of the graph, as passed to the driver.
  [[nodiscard]] std::vector<const FakeDriver::GraphNode*> nodes(const Graph& graph) const {
    std::vector<const FakeDriver::GraphNode*> all;
    for (const auto& node : fake.graph_nodes.at(graph.get())) all.push_back(node.get());
    return all;
  }
  static CUgraphNode handle(const FakeDriver::GraphNode* node) {
    return reinterpret_cast<CUgraphNode>(const_cast<FakeDriver::GraphNode*>(node));
  }
  template <typename T>
  static T param(const FakeDriver::GraphNode& node, int offset) {
    return field_at<T>(node.params.data(), offset);
  }

  FakeDriver fake;
  Runtime runtime = Internals::make_runtime(kInMemory, fake.table);
  Kernel kernel = load(runtime, hand_plan());
};

TEST_F(Graphs, AreBuiltNodeByNode) {
  Event event(runtime);
  GraphBuilder inner(runtime);
  (void)inner.kernel(kernel, hand_arguments());
  const Graph child = inner.finish();

  fake.host_address = 0x90000;
  GraphBuilder builder(runtime);
  const Node copy = builder.copy(on_device(0x10000), on_device(0x90000), 8192);
  const Node fill = builder.fill(on_device(0x20000), 7, 2048, 4);
  const Node launch =
      builder.kernel(kernel, {on_device(0x10000), on_device(0x20000), 0.5}, {copy, fill});
  const Node record = builder.record(event, launch);
  const Node wait = builder.wait(event, record);
  const Node again = builder.child(child, launch);
  (void)builder.join({wait, again});
  const Graph graph = builder.finish();

  const auto got = nodes(graph);
  ASSERT_EQ(got.size(), 7U);
  EXPECT_EQ(graph.size(), 7U);
  EXPECT_EQ(got[0]->call, "cuGraphAddMemcpyNode");
  EXPECT_EQ(got[0]->to, 0x10000U);
  EXPECT_EQ(got[0]->from, 0x90000U);
  EXPECT_EQ(got[0]->bytes, 8192U);
  EXPECT_EQ(got[0]->from_type, CU_MEMORYTYPE_HOST);
  EXPECT_EQ(got[0]->to_type, CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(got[1]->call, "cuGraphAddMemsetNode");
  EXPECT_EQ(got[1]->bytes, 8192U);
  EXPECT_EQ(got[2]->call, "cuGraphAddKernelNode");
  EXPECT_EQ(got[2]->after, (std::vector<CUgraphNode>{handle(got[0]), handle(got[1])}));
  EXPECT_EQ(got[2]->blocks, 8U);
  EXPECT_EQ(got[2]->threads, 256U);
  EXPECT_EQ(param<std::uint64_t>(*got[2], 8), 0x20000U);
  EXPECT_EQ(got[3]->event, event.get());
  EXPECT_EQ(got[4]->call, "cuGraphAddEventWaitNode");
  EXPECT_EQ(got[4]->after, std::vector<CUgraphNode>{handle(got[3])});
  EXPECT_EQ(fake.graph_nodes.at(got[5]->child).size(), 1U);
  EXPECT_EQ(got[6]->after, (std::vector<CUgraphNode>{handle(got[4]), handle(got[5])}));
}

TEST_F(Graphs, LaunchAnywhere) {
  GraphBuilder builder(runtime);
  (void)builder.kernel(kernel, hand_arguments());
  const GraphExec executable = builder.finish().instantiate();  // which keeps the graph
  EXPECT_EQ(fake.graphs, 2);  // and the builder has begun another one
  fake.calls.clear();
  executable.launch(kStream);
  EXPECT_EQ(fake.calls, std::vector<std::string>{"cuGraphLaunch"});
  fake.launch_needs_context = true;
  executable.launch(nullptr);
  EXPECT_EQ(fake.calls.back(), "cuCtxPopCurrent");
}

TEST_F(Graphs, AreUpdatedWithoutBeingMadeAgain) {
  GraphBuilder builder(runtime);
  const Node node = builder.kernel(kernel, hand_arguments());
  const Graph graph = builder.finish();
  GraphExec executable = graph.instantiate();
  fake.calls.clear();
  executable.update(node, {on_device(0x30000), on_device(0x40000), 2.0});
  BoundLaunch bound = kernel.bind(hand_arguments());
  bound.set(0, on_device(0x50000));
  executable.update(node, bound);
  EXPECT_EQ(fake.calls, (std::vector<std::string>{"cuGraphExecKernelNodeSetParams",
                                                  "cuGraphExecKernelNodeSetParams"}));
  ASSERT_EQ(fake.updates.size(), 2U);
  EXPECT_EQ(fake.updates[0].node, handle(nodes(graph)[0]));
  EXPECT_EQ(field_at<std::uint64_t>(fake.updates[0].params.data(), 0), 0x30000U);
  EXPECT_EQ(field_at<float>(fake.updates[0].params.data(), 16), 2.0F);
  EXPECT_EQ(field_at<std::uint64_t>(fake.updates[1].params.data(), 0), 0x50000U);
}

TEST_F(Graphs, AreUpdatedAsAWhole) {
  HandPlan plan;
  plan.out("y", "N:1").total();
  const Kernel sized = load(runtime, plan);
  const std::vector<Argument> args = {on_device(0x1000)};
  std::vector<Graph> graphs;
  std::vector<Node> nodes;
  for (const std::int64_t size : {1000, 2000}) {
    GraphBuilder builder(runtime);
    nodes.push_back(builder.kernel(sized, args, {}, {{"N", size}}));
    graphs.push_back(builder.finish());
  }
  GraphExec executable = graphs[0].instantiate();
  executable.update(nodes[0], args, {{"N", 0}});  // which excludes it
  fake.updates.clear();
  executable.update(graphs[1]);
  EXPECT_EQ(fake.whole_updates, std::vector<CUgraph>{graphs[1].get()});
  ASSERT_EQ(fake.updates.size(), 1U);
  EXPECT_EQ(fake.updates[0].enabled, 1);
  for (const Node node : nodes) {
    expect_error(ErrorCode::invalid_argument, "graph", [&] {
      executable.update(node, args, {{"N", 8}});
    });
  }
  executable.update(graphs[0]);
  executable.update(nodes[0], args, {{"N", 8}});
  EXPECT_EQ(fake.updates.back().blocks, 1U);

  std::optional<Graph> last = std::move(graphs[1]);
  executable.update(*last);
  const int alive = fake.graphs;
  last.reset();
  EXPECT_EQ(fake.graphs, alive) << "the executable keeps what it does";
}

TEST_F(Graphs, SayWhyTheyCannotBeUpdated) {
  GraphBuilder builder(runtime);
  const Node node = builder.kernel(kernel, hand_arguments());
  (void)builder.join(node);
  const Graph graph = builder.finish();
  GraphExec executable = graph.instantiate();
  const struct {
    CUgraphExecUpdateResult why;
    int node, from;
    const char* text;
  } kRows[] = {
      {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, -1, -1, "it has another number of nodes"},
      {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, 1, 0,
       "node 1 of 2 (join) comes after other nodes than before: after node 0 of 2 (tilejit_hand)"},
      {CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, 1, -1,
       "node 1 of 2 (join) is a node of another kind; instantiate the graph"},
      {CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE, 0, -1,
       "node 0 of 2 (tilejit_hand) has a kernel that cannot take the other one's place"},
      {CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, 0, -1, "has parameters that cannot"},
      {CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED, 0, -1, "has other attributes"},
      {CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED, 0, -1, "cannot be updated by this driver"},
      {CU_GRAPH_EXEC_UPDATE_ERROR, -1, -1, "a node was refused without a reason"},
  };
  for (const auto& row : kRows) {
    fake.refused_update = {row.why, row.node, row.from};
    expect_error(ErrorCode::unsupported, row.text, [&] { executable.update(graph); });
  }
  EXPECT_TRUE(fake.whole_updates.empty());
  executable.update(node, hand_arguments());  // nothing has changed
}

TEST_F(Graphs, AreNotUpdatedFromMemoryInUse) {
  const Kernel shares = load(runtime, shared_rows());
  const auto build = [&] {
    GraphBuilder builder(runtime);
    (void)builder.kernel(shares, {on_device(0x10000), on_device(0x20000)});
    return builder.finish();
  };
  const Graph first = build(), second = build();
  std::optional<GraphExec> one = first.instantiate(), two = second.instantiate();
  expect_error(ErrorCode::unsupported, "clone the graph", [&] { one->update(second); });
  two.reset();
  one->update(second);
  one->update(second);  // in use by itself
  expect_error(ErrorCode::unsupported, "clone the graph", [&] { (void)second.instantiate(); });
  one.reset();
  (void)second.instantiate();
}

TEST_F(Graphs, KnowTheSymbolsOfAFallback) {
  HandPlan plan;
  plan.out("y", "N:1").total();
  const Kernel general = load(runtime, plan);
  const Kernel fallback = Internals::bind(general, {{"N", 1000}});
  GraphBuilder builder(runtime);
  const std::vector<Argument> args = {on_device(0x1000)};
  const Node node = builder.kernel(fallback, args);
  const Graph graph = builder.finish();
  GraphExec executable = graph.instantiate(), of_clone = graph.clone().instantiate();
  executable.update(node, args);
  of_clone.update(node, args);
  ASSERT_EQ(fake.updates.size(), 2U);
  EXPECT_EQ(fake.updates[0].blocks, 4U);
  EXPECT_EQ(fake.updates[1].blocks, 4U);
  expect_error(ErrorCode::invalid_argument, "has no symbol 'N'", [&] {
    executable.update(node, args, {{"N", 1000}});
  });
}

TEST_F(Graphs, LeaveOutANodeWithNothingToDo) {
  HandPlan plan;
  plan.out("y", "N:1").total();
  const Kernel sized = load(runtime, plan);
  GraphBuilder builder(runtime);
  const std::vector<Argument> args = {on_device(0x1000)};
  const Node node = builder.kernel(sized, args, {}, {{"N", 1000}});
  const Node never = builder.kernel(sized, args, {}, {{"N", 0}});
  const Graph graph = builder.finish();
  EXPECT_EQ(nodes(graph)[1]->call, "cuGraphAddEmptyNode");
  GraphExec executable = graph.instantiate();
  executable.update(node, args, {{"N", 0}});
  executable.update(node, args, {{"N", 0}});
  executable.update(node, args, {{"N", 5000}});
  ASSERT_EQ(fake.updates.size(), 3U);
  EXPECT_EQ(fake.updates[0].enabled, 0);
  EXPECT_EQ(fake.updates[1].blocks, 20U);
  EXPECT_EQ(fake.updates[2].enabled, 1);
  expect_error(ErrorCode::invalid_argument, "made without anything to launch", [&] {
    executable.update(never, args, {{"N", 8}});
  });
}

TEST_F(Graphs, RefuseWhatIsNotTheirs) {
  GraphBuilder builder(runtime), other(runtime);
  const Node foreign = other.kernel(kernel, hand_arguments());
  expect_error(ErrorCode::invalid_argument, "another graph",
               [&] { (void)builder.kernel(kernel, hand_arguments(), foreign); });
  expect_error(ErrorCode::invalid_argument, "1, 2 or 4 bytes, not 8",
               [&] { (void)builder.fill(on_device(0x1000), 0, 10, 8); });
  const Node node = builder.kernel(kernel, hand_arguments());
  const Node join = builder.join(node);
  GraphExec executable = builder.finish().instantiate();
  expect_error(ErrorCode::invalid_argument, "another graph",
               [&] { executable.update(foreign, hand_arguments()); });
  expect_error(ErrorCode::invalid_argument, "is no kernel",
               [&] { executable.update(join, hand_arguments()); });
  expect_error(ErrorCode::invalid_argument, "null pointer", [&] {
    executable.update(node, {on_device(0), on_device(0x20000), 0.5});
  });
  const Kernel twin = load(runtime, hand_plan());
  expect_error(ErrorCode::invalid_argument, "another kernel",
               [&] { executable.update(node, twin.bind(hand_arguments())); });
  EXPECT_TRUE(fake.updates.empty());
}

TEST_F(Graphs, GiveKernelsMemoryOfTheirOwn) {
  fake.param_bytes = 24;
  {
    const Kernel shares = load(runtime, shared_rows());
    GraphBuilder builder(runtime);
    const Node sum = builder.kernel(shares, {on_device(0x10000), on_device(0x20000)});
    (void)builder.join(sum);
    const Graph graph = builder.finish();
    const auto got = nodes(graph);
    ASSERT_EQ(got.size(), 3U);
    EXPECT_EQ(fake.buffers, 2);  // that of the kernel's first stream, too
    const auto memory = param<std::uint64_t>(*got[0], 16);
    EXPECT_NE(memory, 0U);
    EXPECT_EQ(param<std::uint64_t>(*got[1], 16), memory);
    EXPECT_EQ(got[0]->blocks, 4000U);
    EXPECT_EQ(got[1]->blocks, 250U);
    EXPECT_EQ(got[1]->after, std::vector<CUgraphNode>{handle(got[0])});
    EXPECT_EQ(got[2]->after, std::vector<CUgraphNode>{handle(got[1])});  // after both

    std::optional<GraphExec> executable = graph.instantiate();
    expect_error(ErrorCode::unsupported, "clone the graph", [&] { (void)graph.instantiate(); });
    executable->update(sum, {on_device(0x30000), on_device(0x40000)});
    ASSERT_EQ(fake.updates.size(), 2U);
    EXPECT_EQ(field_at<std::uint64_t>(fake.updates[0].params.data(), 16), memory);
    EXPECT_EQ(field_at<std::uint64_t>(fake.updates[1].params.data(), 0), 0x30000U);
    executable.reset();
    (void)graph.instantiate();

    const Graph copy = graph.clone();
    EXPECT_EQ(fake.buffers, 3);
    const auto copied = nodes(copy);
    EXPECT_NE(param<std::uint64_t>(*copied[0], 16), memory);
    EXPECT_EQ(param<std::uint64_t>(*copied[0], 16), param<std::uint64_t>(*copied[1], 16));
    GraphExec of_copy = copy.instantiate();
    of_copy.update(sum, {on_device(0x30000), on_device(0x40000)});
    EXPECT_EQ(fake.updates.back().node, handle(copied[1]));

    GraphBuilder outer(runtime);
    (void)outer.child(graph);
    (void)outer.child(graph);
    const Graph both = outer.finish();
    EXPECT_EQ(fake.buffers, 5);  // the children may run at once
    expect_error(ErrorCode::unsupported, "memory of their own", [&] { (void)both.clone(); });
  }
  EXPECT_EQ(fake.buffers, 0);
}

TEST_F(Graphs, KernelsThatCountTheirBlocksHaveZeroedMemory) {
  fake.param_bytes = 24;
  const HandPlan plan = shared_rows(true);
  const auto bytes =
      static_cast<std::size_t>(launch::aligned_workspace_bytes(plan::partials_bytes(plan.plan)));
  const Kernel kernel = load(runtime, plan);
  fake.cleared = 0;  // memory of streams
  GraphBuilder builder(runtime);
  const Node sum = builder.kernel(kernel, {on_device(0x10000), on_device(0x20000)});
  (void)builder.join(sum);
  const Graph graph = builder.finish();
  ASSERT_EQ(nodes(graph).size(), 2U) << "no second kernel";
  EXPECT_EQ(fake.cleared, bytes);
  const Graph copy = graph.clone();
  EXPECT_EQ(fake.cleared, 2 * bytes);
  EXPECT_NE(param<std::uint64_t>(*nodes(copy)[0], 16), param<std::uint64_t>(*nodes(graph)[0], 16));
  GraphExec executable = graph.instantiate();
  executable.update(sum, {on_device(0x30000), on_device(0x40000)});
  ASSERT_EQ(fake.updates.size(), 1U);
  EXPECT_EQ(field_at<std::uint64_t>(fake.updates[0].params.data(), 16),
            param<std::uint64_t>(*nodes(graph)[0], 16));
}

TEST_F(Graphs, CloneWhatHasNoMemory) {
  GraphBuilder builder(runtime);
  const Node node = builder.kernel(kernel, hand_arguments());
  const Graph graph = builder.finish();
  const Graph copy = graph.clone();
  GraphExec first = graph.instantiate(), second = graph.instantiate(), third = copy.instantiate();
  third.update(node, hand_arguments());
  EXPECT_EQ(fake.updates.back().node, handle(nodes(copy)[0]));
}

TEST_F(Graphs, NodesHaveTheOptionsOfALaunch) {
  GraphBuilder builder(runtime);
  (void)builder.kernel(kernel.bind(
      hand_arguments(), {}, {.overlap = true, .priority = -2, .cluster = 2, .shared_bytes = 256}));
  const Graph graph = builder.finish();
  EXPECT_EQ(nodes(graph)[0]->attributes,
            (std::vector<CUlaunchAttributeID>{CU_LAUNCH_ATTRIBUTE_PRIORITY,
                                              CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION}));
  EXPECT_EQ(nodes(graph)[0]->shared_bytes, 256U);
}

TEST_F(Graphs, ArePictured) {
  GraphBuilder builder(runtime);
  const Node fill = builder.fill(on_device(0x20000), 0, 16);
  const Node left = builder.kernel(kernel, hand_arguments(), fill);
  const Node right = builder.kernel(kernel, hand_arguments(), fill);
  (void)builder.join({left, right});
  const Graph graph = builder.finish();
  EXPECT_EQ(graph.to_dot(),
            "digraph {\n"
            "  node [shape=box, fontname=\"sans-serif\"];\n"
            "  n0 [label=\"fill\", style=rounded];\n"
            "  n1 [label=\"tilejit_hand\\n8 x 256 threads\"];\n"
            "  n2 [label=\"tilejit_hand\\n8 x 256 threads\"];\n"
            "  n3 [label=\"join\", style=rounded];\n"
            "  n0 -> n1;\n"
            "  n0 -> n2;\n"
            "  n1 -> n3;\n"
            "  n2 -> n3;\n"
            "}\n");
  const std::string svg = graph.to_svg();
  EXPECT_THAT(svg, testing::StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"314\" "
                                       "height=\"252\""));
  // Two kernels side by side, in the second of three rows.
  EXPECT_THAT(svg, testing::HasSubstr("<rect x=\"16\" y=\"106\" width=\"129\""));
  EXPECT_THAT(svg, testing::HasSubstr("<rect x=\"169\" y=\"106\" width=\"129\""));
  EXPECT_THAT(svg, testing::HasSubstr("y=\"196\""));
}

}  // namespace
}  // namespace tilejit
