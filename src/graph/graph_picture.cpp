#include "graph/graph_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "tilejit/printable.hpp"

namespace tilejit::graph {
namespace {

using Node = GraphPicture::Node;

std::string kernel_name(const driver::Table& driver, const CUDA_KERNEL_NODE_PARAMS& params) {
  const char* name = nullptr;
  if (params.func != nullptr) {
    driver::check(driver, driver.cuFuncGetName_(&name, params.func), "cuFuncGetName");
  } else if (params.kern != nullptr) {
    driver::check(driver, driver.cuKernelGetName_(&name, params.kern), "cuKernelGetName");
  }
  return name != nullptr ? name : "kernel";
}

std::string dims(unsigned x, unsigned y, unsigned z) {
  if (y == 1 && z == 1) return std::to_string(x);
  return fmt::format("({},{},{})", x, y, z);
}

Node kernel_node(const driver::Table& driver, CUgraphNode node) {
  CUDA_KERNEL_NODE_PARAMS params{};
  driver::check(driver, driver.cuGraphKernelNodeGetParams_(node, &params),
                "cuGraphKernelNodeGetParams");
  return {.label = kernel_name(driver, params),
          .detail = fmt::format("{} x {} threads",
                                dims(params.gridDimX, params.gridDimY, params.gridDimZ),
                                dims(params.blockDimX, params.blockDimY, params.blockDimZ)),
          .kernel = true};
}

std::size_t count_nodes(const driver::Table& driver, CUgraph graph) {
  std::size_t count = 0;
  driver::check(driver, driver.cuGraphGetNodes_(graph, nullptr, &count), "cuGraphGetNodes");
  return count;
}

Node child_node(const driver::Table& driver, CUgraphNode node) {
  CUgraph graph = nullptr;
  driver::check(driver, driver.cuGraphChildGraphNodeGetGraph_(node, &graph),
                "cuGraphChildGraphNodeGetGraph");
  return {.label = "graph", .detail = fmt::format("{} nodes", count_nodes(driver, graph))};
}

Node describe(const driver::Table& driver, CUgraphNode node) {
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  driver::check(driver, driver.cuGraphNodeGetType_(node, &type), "cuGraphNodeGetType");
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return kernel_node(driver, node);
    case CU_GRAPH_NODE_TYPE_GRAPH: return child_node(driver, node);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return {.label = "copy"};
    case CU_GRAPH_NODE_TYPE_MEMSET: return {.label = "fill"};
    case CU_GRAPH_NODE_TYPE_HOST: return {.label = "host function"};
    case CU_GRAPH_NODE_TYPE_EMPTY: return {.label = "join"};
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return {.label = "wait for event"};
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return {.label = "record event"};
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return {.label = "allocate"};
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return {.label = "free"};
    default: return {.label = fmt::format("node of type {}", static_cast<int>(type))};
  }
}

std::string quoted(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

GraphPicture picture_of(const driver::Table& driver, CUgraph graph) {
  GraphPicture picture;
  std::size_t count = count_nodes(driver, graph);
  std::vector<CUgraphNode> nodes(count);
  if (count > 0) {
    driver::check(driver, driver.cuGraphGetNodes_(graph, nodes.data(), &count), "cuGraphGetNodes");
  }
  std::unordered_map<CUgraphNode, std::size_t> numbers;
  for (const CUgraphNode node : nodes) {
    numbers.emplace(node, numbers.size());
    picture.nodes.push_back(describe(driver, node));
  }
  std::size_t edges = 0;
  driver::check(driver, driver.cuGraphGetEdges_(graph, nullptr, nullptr, nullptr, &edges),
                "cuGraphGetEdges");
  std::vector<CUgraphNode> from(edges), to(edges);
  std::vector<CUgraphEdgeData> data(edges);
  if (edges > 0) {
    driver::check(driver,
                  driver.cuGraphGetEdges_(graph, from.data(), to.data(), data.data(), &edges),
                  "cuGraphGetEdges");
  }
  for (std::size_t i = 0; i < edges; ++i) {
    picture.edges.push_back({numbers.at(from[i]), numbers.at(to[i]),
                             data[i].type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC});
  }
  return picture;
}

std::string to_dot(const GraphPicture& picture) {
  std::string out = "digraph {\n  node [shape=box, fontname=\"sans-serif\"];\n";
  for (std::size_t i = 0; i < picture.nodes.size(); ++i) {
    const Node& node = picture.nodes[i];
    out += fmt::format("  n{} [label=\"{}{}{}\"{}];\n", i, quoted(node.label),
                       node.detail.empty() ? "" : "\\n", quoted(node.detail),
                       node.kernel ? "" : ", style=rounded");
  }
  for (const GraphPicture::Edge& edge : picture.edges) {
    out += fmt::format("  n{} -> n{}{};\n", edge.from, edge.to,
                       edge.overlapping ? " [style=dashed]" : "");
  }
  return out + "}\n";
}

}  // namespace tilejit::graph
