#pragma once

// FakeDriver's captures and graphs; included by fake_driver.hpp.

#include "fake/fake_driver.hpp"

namespace tilejit {

inline void FakeDriver::fill_captures() {
  table.cuThreadExchangeStreamCaptureMode_ = [](CUstreamCaptureMode* mode) {
    const CUresult result = enter("cuThreadExchangeStreamCaptureMode");
    if (result == CUDA_SUCCESS) std::swap(*mode, active()->thread_mode);
    return result;
  };
  table.cuStreamBeginCapture_ = [](CUstream stream, CUstreamCaptureMode mode) {
    FakeDriver& self = *active();
    const CUresult result = enter("cuStreamBeginCapture");
    if (result != CUDA_SUCCESS) return result;
    if (self.capturing != nullptr) return CUDA_ERROR_ILLEGAL_STATE;
    self.capture_modes.push_back(mode);
    self.capturing = stream;
    return CUDA_SUCCESS;
  };
  table.cuStreamIsCapturing_ = [](CUstream, CUstreamCaptureStatus* status) {
    *status = active()->capturing == nullptr ? CU_STREAM_CAPTURE_STATUS_NONE
              : active()->capture_is_broken  ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                             : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    return enter("cuStreamIsCapturing");
  };
  table.cuStreamEndCapture_ = [](CUstream, CUgraph* graph) {
    FakeDriver& self = *active();
    *graph = nullptr;
    CUresult result = enter("cuStreamEndCapture");
    self.capturing = nullptr;
    if (result == CUDA_SUCCESS && self.capture_is_broken) {
      result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    }
    if (result != CUDA_SUCCESS) return result;
    *graph = new_graph();
    ++self.graphs;
    return CUDA_SUCCESS;
  };
}

inline CUresult FakeDriver::add_node(CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                     std::size_t count, const char* call, GraphNode node) {
  const CUresult result = enter(call);
  if (result != CUDA_SUCCESS) return result;
  node.call = call;
  node.after.assign(after, after + count);
  GraphNodes& nodes = active()->graph_nodes.at(graph);
  nodes.push_back(std::make_unique<GraphNode>(std::move(node)));
  *out = reinterpret_cast<CUgraphNode>(nodes.back().get());
  return CUDA_SUCCESS;
}

inline void FakeDriver::set_kernel(GraphNode& node, const CUDA_KERNEL_NODE_PARAMS& params) {
  node.function = params.func;
  node.blocks = params.gridDimX;
  node.threads = params.blockDimX;
  node.shared_bytes = params.sharedMemBytes;
  node.extents = {params.gridDimY, params.gridDimZ, params.blockDimY, params.blockDimZ};
  node.params = record(params.kernelParams);
  node.params_at = params.kernelParams[0];
}

/// As in the driver, the graphs of child nodes are copied too.
inline CUgraph FakeDriver::copy_graph(CUgraph graph) {
  const CUgraph made = new_graph();
  std::map<CUgraphNode, CUgraphNode> copies;
  for (const auto& node : active()->graph_nodes.at(graph)) {
    auto copy = std::make_unique<GraphNode>(*node);
    copy->origin = reinterpret_cast<CUgraphNode>(node.get());
    for (CUgraphNode& before : copy->after) before = copies.at(before);
    if (copy->child != nullptr) copy->child = copy_graph(copy->child);
    copies[copy->origin] = reinterpret_cast<CUgraphNode>(copy.get());
    active()->graph_nodes.at(made).push_back(std::move(copy));
  }
  return made;
}

inline void FakeDriver::fill_graphs() {
  table.cuGraphCreate_ = [](CUgraph* graph, unsigned) {
    const CUresult result = enter("cuGraphCreate", &FakeDriver::graphs, 1);
    if (result == CUDA_SUCCESS) *graph = new_graph();
    return result;
  };
  table.cuGraphClone_ = [](CUgraph* clone, CUgraph graph) {
    const CUresult result = enter("cuGraphClone", &FakeDriver::graphs, 1);
    if (result == CUDA_SUCCESS) *clone = copy_graph(graph);
    return result;
  };
  table.cuGraphDestroy_ = [](CUgraph graph) {
    active()->graph_nodes.erase(graph);
    return enter("cuGraphDestroy", &FakeDriver::graphs, -1);
  };
  table.cuGraphAddKernelNode_ = [](CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                   std::size_t count, const CUDA_KERNEL_NODE_PARAMS* params) {
    GraphNode node;
    set_kernel(node, *params);
    return add_node(out, graph, after, count, "cuGraphAddKernelNode", std::move(node));
  };
  table.cuGraphAddMemcpyNode_ = [](CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                   std::size_t count, const CUDA_MEMCPY3D* copy, CUcontext) {
    GraphNode node;
    node.to = copy->dstDevice;
    node.from = copy->srcDevice;
    node.from_type = copy->srcMemoryType;
    node.to_type = copy->dstMemoryType;
    node.bytes = copy->WidthInBytes * copy->Height * copy->Depth;
    return add_node(out, graph, after, count, "cuGraphAddMemcpyNode", std::move(node));
  };
  table.cuGraphAddMemsetNode_ = [](CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                   std::size_t count, const CUDA_MEMSET_NODE_PARAMS* set,
                                   CUcontext) {
    GraphNode node;
    node.to = set->dst;
    node.from = set->value;
    node.bytes = set->width * set->height * set->elementSize;
    return add_node(out, graph, after, count, "cuGraphAddMemsetNode", std::move(node));
  };
  table.cuGraphAddEmptyNode_ = [](CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                  std::size_t count) {
    return add_node(out, graph, after, count, "cuGraphAddEmptyNode", {});
  };
  table.cuGraphAddEventRecordNode_ = [](CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                        std::size_t count, CUevent event) {
    GraphNode node;
    node.event = event;
    return add_node(out, graph, after, count, "cuGraphAddEventRecordNode", std::move(node));
  };
  table.cuGraphAddEventWaitNode_ = [](CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                      std::size_t count, CUevent event) {
    GraphNode node;
    node.event = event;
    return add_node(out, graph, after, count, "cuGraphAddEventWaitNode", std::move(node));
  };
  table.cuGraphAddChildGraphNode_ = [](CUgraphNode* out, CUgraph graph, const CUgraphNode* after,
                                       std::size_t count, CUgraph child) {
    GraphNode node;
    node.child = copy_graph(child);
    return add_node(out, graph, after, count, "cuGraphAddChildGraphNode", std::move(node));
  };
  table.cuGraphKernelNodeSetParams_ = [](CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* params) {
    const CUresult result = enter("cuGraphKernelNodeSetParams");
    if (result == CUDA_SUCCESS) set_kernel(node_of(node), *params);
    return result;
  };
  table.cuGraphKernelNodeSetAttribute_ = [](CUgraphNode node, CUkernelNodeAttrID id,
                                            const CUkernelNodeAttrValue*) {
    const CUresult result = enter("cuGraphKernelNodeSetAttribute");
    if (result == CUDA_SUCCESS) node_of(node).attributes.push_back(id);
    return result;
  };
}

inline void FakeDriver::fill_graph_queries() {
  table.cuGraphNodeFindInClone_ = [](CUgraphNode* found, CUgraphNode original, CUgraph clone) {
    const CUresult result = enter("cuGraphNodeFindInClone");
    if (result != CUDA_SUCCESS) return result;
    for (const auto& node : active()->graph_nodes.at(clone)) {
      if (node->origin != original) continue;
      *found = reinterpret_cast<CUgraphNode>(node.get());
      return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
  };
  table.cuGraphChildGraphNodeGetGraph_ = [](CUgraphNode node, CUgraph* graph) {
    *graph = node_of(node).child;
    return enter("cuGraphChildGraphNodeGetGraph");
  };
  table.cuGraphKernelNodeGetParams_ = [](CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* params) {
    GraphNode& of = node_of(node);
    *params = {};
    of.value = of.params.data();
    params->func = of.function;
    params->gridDimX = of.blocks;
    params->blockDimX = of.threads;
    params->gridDimY = params->gridDimZ = params->blockDimY = params->blockDimZ = 1;
    params->kernelParams = &of.value;
    return enter("cuGraphKernelNodeGetParams");
  };
  table.cuGraphGetNodes_ = [](CUgraph graph, CUgraphNode* out, std::size_t* count) {
    const GraphNodes& nodes = active()->graph_nodes.at(graph);
    for (std::size_t i = 0; out != nullptr && i < nodes.size(); ++i) {
      out[i] = reinterpret_cast<CUgraphNode>(nodes[i].get());
    }
    *count = nodes.size();
    return enter("cuGraphGetNodes");
  };
  table.cuGraphGetEdges_ = [](CUgraph graph, CUgraphNode* from, CUgraphNode* to,
                              CUgraphEdgeData* data, std::size_t* count) {
    std::size_t edges = 0;
    for (const auto& node : active()->graph_nodes.at(graph)) {
      for (const CUgraphNode before : node->after) {
        if (from != nullptr) {
          from[edges] = before;
          to[edges] = reinterpret_cast<CUgraphNode>(node.get());
          data[edges] = {};
        }
        ++edges;
      }
    }
    *count = edges;
    return enter("cuGraphGetEdges");
  };
  table.cuGraphNodeGetType_ = [](CUgraphNode node, CUgraphNodeType* type) {
    static const std::map<std::string, CUgraphNodeType> types = {
        {"cuGraphAddKernelNode", CU_GRAPH_NODE_TYPE_KERNEL},
        {"cuGraphAddMemcpyNode", CU_GRAPH_NODE_TYPE_MEMCPY},
        {"cuGraphAddMemsetNode", CU_GRAPH_NODE_TYPE_MEMSET},
        {"cuGraphAddEmptyNode", CU_GRAPH_NODE_TYPE_EMPTY},
        {"cuGraphAddEventRecordNode", CU_GRAPH_NODE_TYPE_EVENT_RECORD},
        {"cuGraphAddEventWaitNode", CU_GRAPH_NODE_TYPE_WAIT_EVENT},
        {"cuGraphAddChildGraphNode", CU_GRAPH_NODE_TYPE_GRAPH}};
    *type = types.at(node_of(node).call);
    return enter("cuGraphNodeGetType");
  };
  table.cuFuncGetName_ = [](const char** name, CUfunction function) {
    *name = active()->entries.at(reinterpret_cast<std::uintptr_t>(function) - 1).c_str();
    return enter("cuFuncGetName");
  };
  table.cuKernelGetName_ = [](const char** name, CUkernel) {
    *name = "a kernel";
    return enter("cuKernelGetName");
  };
}

inline void FakeDriver::fill_graph_executables() {
  table.cuGraphInstantiate_ = [](CUgraphExec* made, CUgraph, unsigned long long) {
    *made = handle<CUgraphExec>(21);
    return enter("cuGraphInstantiate", &FakeDriver::executables, 1);
  };
  table.cuGraphExecDestroy_ = [](CUgraphExec) {
    return enter("cuGraphExecDestroy", &FakeDriver::executables, -1);
  };
  table.cuGraphLaunch_ = [](CUgraphExec, CUstream) {
    const CUresult result = enter("cuGraphLaunch");
    if (result != CUDA_SUCCESS) return result;
    const bool refused = active()->launch_needs_context && active()->current.empty();
    return refused ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
  };
  table.cuGraphExecKernelNodeSetParams_ = [](CUgraphExec, CUgraphNode node,
                                             const CUDA_KERNEL_NODE_PARAMS* params) {
    const CUresult result = enter("cuGraphExecKernelNodeSetParams");
    if (result != CUDA_SUCCESS) return result;
    GraphNode what;
    set_kernel(what, *params);
    active()->updates.push_back({node, what.blocks, what.params});
    return CUDA_SUCCESS;
  };
  table.cuGraphExecUpdate_ = [](CUgraphExec, CUgraph graph, CUgraphExecUpdateResultInfo* info) {
    FakeDriver& self = *active();
    const CUresult result = enter("cuGraphExecUpdate");
    if (result != CUDA_SUCCESS) return result;
    const auto node = [&](int number) {
      if (number < 0) return CUgraphNode{};
      const GraphNodes& nodes = self.graph_nodes.at(graph);
      return reinterpret_cast<CUgraphNode>(nodes.at(static_cast<std::size_t>(number)).get());
    };
    *info = {self.refused_update.why, node(self.refused_update.node),
             node(self.refused_update.from)};
    if (info->result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    self.whole_updates.push_back(graph);
    return CUDA_SUCCESS;
  };
  table.cuGraphNodeSetEnabled_ = [](CUgraphExec, CUgraphNode node, unsigned enabled) {
    const CUresult result = enter("cuGraphNodeSetEnabled");
    if (result == CUDA_SUCCESS)
      active()->updates.push_back({node, 0, {}, static_cast<int>(enabled)});
    return result;
  };
}

}  // namespace tilejit
