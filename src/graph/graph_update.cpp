// Updates an executable graph to do what the nodes of another graph do.

#include <algorithm>
#include <string>
#include <vector>

#include "graph/graph_impl.hpp"
#include "graph/graph_picture.hpp"
#include "tilejit/error.hpp"

namespace tilejit {
namespace {

const char* reason(CUgraphExecUpdateResult result) noexcept {
  switch (result) {
    case CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED: return "comes after other nodes than before";
    case CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED: return "is a node of another kind";
    case CU_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED:
    case CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE:
      return "has a kernel that cannot take the other one's place";
    case CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED:
      return "has parameters that cannot take the others' place (memory of another kind or device, "
             "or another size)";
    case CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED:
      return "has other attributes (cooperative, cluster, priority)";
    case CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED: return "cannot be updated by this driver";
    default: return "was refused without a reason";
  }
}

/// "node 2 of 5 (tilejit_add_f32)", numbered as in Graph::to_dot.
std::string name_of(const driver::Table& driver, CUgraph graph, CUgraphNode node) {
  const std::vector<graph::GraphPicture::Node> drawn = graph::picture_of(driver, graph).nodes;
  std::size_t count = drawn.size();
  std::vector<CUgraphNode> nodes(count);
  driver::check(driver, driver.cuGraphGetNodes_(graph, nodes.data(), &count), "cuGraphGetNodes");
  const auto at = static_cast<std::size_t>(std::ranges::find(nodes, node) - nodes.begin());
  if (at >= drawn.size()) return "a node of a child";
  return "node " + std::to_string(at) + " of " + std::to_string(count) + " (" + drawn[at].label +
         ")";
}

[[noreturn]] void refuse(const driver::Table& driver, CUgraph graph,
                         const CUgraphExecUpdateResultInfo& info) {
  const bool counted = info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  std::string what = info.errorNode == nullptr && counted
                         ? "it has another number of nodes"
                         : (info.errorNode == nullptr ? std::string("a node")
                                                      : name_of(driver, graph, info.errorNode)) +
                               " " + reason(info.result);
  if (info.errorFromNode != nullptr) {
    what += ": after " + name_of(driver, graph, info.errorFromNode);
  }
  throw Error(ErrorCode::unsupported,
              "the executable cannot do what the graph does: " + what + "; instantiate the graph",
              "cuGraphExecUpdate");
}

}  // namespace

void GraphExec::update(const Graph& graph) {
  Impl& self = *impl_;
  const driver::Table& driver = self.graph->context->driver();
  const driver::ContextScope scope(*self.graph->context);
  std::unique_ptr<Impl::Use> use;
  const bool ours = graph.impl_ == self.graph || (self.source && graph.impl_ == self.source->graph);
  if (!ours) use = std::make_unique<Impl::Use>(graph.impl_);
  CUgraphExecUpdateResultInfo info{};
  const CUresult result = driver.cuGraphExecUpdate_(get(), graph.get(), &info);
  if (result == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE) refuse(driver, graph.get(), info);
  driver::check(driver, result, "cuGraphExecUpdate");
  if (graph.impl_ == self.graph) {
    self.source.reset();
  } else if (use) {
    self.source = std::move(use);
  }
  for (std::uint32_t i = 0; i < self.left_out.size(); ++i) {
    for (std::size_t step = 0; step < self.left_out[i].size(); ++step) {
      self.enable({self.graph->id, i}, self.graph->items[i], step, true);
    }
  }
}

}  // namespace tilejit
