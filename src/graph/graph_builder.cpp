#include <algorithm>
#include <atomic>
#include <string>

#include "graph/graph_impl.hpp"
#include "launch/bound_launch_impl.hpp"
#include "launch/internals.hpp"
#include "memory/stream_impl.hpp"
#include "tilejit/error.hpp"

namespace tilejit {
namespace {

using Item = Graph::Impl::Item;

std::uint32_t next_id() noexcept {
  static std::atomic<std::uint32_t> last = 0;
  return ++last;
}

std::shared_ptr<Graph::Impl> empty_graph(std::shared_ptr<const driver::Context> context) {
  auto made = std::make_shared<Graph::Impl>(std::move(context));
  const driver::Table& driver = made->context->driver();
  const driver::ContextScope scope(*made->context);
  CUgraph handle = nullptr;
  driver::check(driver, driver.cuGraphCreate_(&handle, 0), "cuGraphCreate");
  made->handle = driver::UniqueGraph(handle, {made->context.get()});
  made->id = next_id();
  return made;
}

/// The driver's nodes that a new node depends on.
std::vector<CUgraphNode> dependencies(const Graph::Impl& graph, const After& after) {
  std::vector<CUgraphNode> nodes;
  for (const Node node : after.nodes()) nodes.push_back(graph.item(node).last);
  return nodes;
}

/// Calls `add(&node, graph, dependencies, count)`: all of the driver's functions start with these
/// arguments.
template <typename Add>
CUgraphNode add_node(const Graph::Impl& graph, std::span<const CUgraphNode> after, const char* call,
                     Add add) {
  const driver::ContextScope scope(*graph.context);
  CUgraphNode node = nullptr;
  driver::check(graph.context->driver(), add(&node, graph.handle.get(), after.data(), after.size()),
                call);
  return node;
}

CUgraphNode add_kernel(const Graph::Impl& graph, std::span<const CUgraphNode> after,
                       const launch::KernelNode& kernel) {
  return add_node(graph, after, "cuGraphAddKernelNode", [&](auto... common) {
    return graph.context->driver().cuGraphAddKernelNode_(common..., kernel.get());
  });
}

CUgraphNode add_empty(const Graph::Impl& graph, std::span<const CUgraphNode> after) {
  return add_node(graph, after, "cuGraphAddEmptyNode", [&](auto... common) {
    return graph.context->driver().cuGraphAddEmptyNode_(common...);
  });
}

Node keep(Graph::Impl& graph, Item item) {
  graph.items.push_back(std::move(item));
  return {graph.id, static_cast<std::uint32_t>(graph.items.size() - 1)};
}

Node keep(Graph::Impl& graph, CUgraphNode node) {
  return keep(graph, Item{.last = node});
}

void set_attributes(const driver::Table& driver, CUgraphNode node,
                    std::span<const CUlaunchAttribute> attributes) {
  for (const CUlaunchAttribute& attribute : attributes) {
    driver::check(driver,
                  driver.cuGraphKernelNodeSetAttribute_(node, attribute.id, &attribute.value),
                  "cuGraphKernelNodeSetAttribute");
  }
}

/// Adds the nodes of the kernels that have something to do, one after another.
void add_steps(const Graph::Impl& graph, std::vector<CUgraphNode> before, const std::byte* params,
               Item& item) {
  for (std::size_t i = 0; i < item.grids.size(); ++i) {
    CUgraphNode& node = item.steps.emplace_back(nullptr);
    if (item.grids[i].blocks == 0) continue;
    item.last = node = add_kernel(graph, before, item.node(i, item.grids[i], params));
    before.assign(1, node);
  }
}

Node add_launch(Graph::Impl& graph, const BoundLaunch::Impl& launch, const After& after) {
  const std::vector<CUgraphNode> before = dependencies(graph, after);
  const std::shared_ptr<const Kernel::Impl>& kernel = launch.kernel;
  const launch::BoundParams bound = launch.bound();
  if (!bound.any()) return keep(graph, add_empty(graph, before));
  Item item{.kernel = kernel,
            .bound = launch::Internals::bound_of(launch.handle),
            .grids = launch.grids,
            .extra_shared_bytes = launch.attributes.shared_bytes()};
  launch::ParamBytes placed;
  if (bound.workspace_bytes > 0) {
    item.workspace = kernel->make_workspace(bound.workspace_bytes);
    item.params.assign(bound.params, bound.params + kernel->binder.param_bytes());
    placed = graph::with_workspaces(*kernel, bound.params, item.workspace->address());
  }
  while (item.grids[item.first].blocks == 0) ++item.first;
  add_steps(graph, before, placed.empty() ? bound.params : placed.data(), item);
  set_attributes(graph.context->driver(), item.steps[item.first], launch.attributes.of_node());
  return keep(graph, std::move(item));
}

/// Memory that the driver does not know belongs to the host.
CUmemorytype memory_type(const driver::Context& context, const void* data) {
  const driver::Table& driver = context.driver();
  const driver::ContextScope scope(context);
  CUmemorytype type = CU_MEMORYTYPE_HOST;
  const CUresult result = driver.cuPointerGetAttribute_(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                        driver::address_of(data));
  if (result == CUDA_ERROR_INVALID_VALUE) return CU_MEMORYTYPE_HOST;
  driver::check(driver, result, "cuPointerGetAttribute");
  return type;
}

}  // namespace

GraphBuilder::GraphBuilder(const Runtime& runtime)
    : impl_(empty_graph(launch::Internals::context(runtime))) {}
GraphBuilder::~GraphBuilder() = default;
GraphBuilder::GraphBuilder(GraphBuilder&&) noexcept = default;
GraphBuilder& GraphBuilder::operator=(GraphBuilder&&) noexcept = default;

Node GraphBuilder::kernel(const Kernel& kernel, std::span<const Argument> args, const After& after,
                          const SymbolValues& symbols) {
  return this->kernel(kernel.bind(args, symbols), after);
}

Node GraphBuilder::kernel(const BoundLaunch& launch, const After& after) {
  return add_launch(*impl_, launch::Internals::of(launch), after);
}

Node GraphBuilder::copy(void* to, const void* from, std::size_t bytes, const After& after) {
  const std::vector<CUgraphNode> before = dependencies(*impl_, after);
  if (bytes == 0) return keep(*impl_, add_empty(*impl_, before));
  CUDA_MEMCPY3D params{};
  params.srcMemoryType = memory_type(*impl_->context, from);
  params.dstMemoryType = memory_type(*impl_->context, to);
  params.srcHost = from;  // the memory type selects one of the two
  params.srcDevice = driver::address_of(from);
  params.dstHost = to;
  params.dstDevice = driver::address_of(to);
  params.WidthInBytes = bytes;
  params.Height = params.Depth = 1;
  return keep(*impl_, add_node(*impl_, before, "cuGraphAddMemcpyNode", [&](auto... common) {
    return impl_->context->driver().cuGraphAddMemcpyNode_(common..., &params,
                                                          impl_->context->handle());
  }));
}

Node GraphBuilder::fill(void* to, std::uint32_t value, std::size_t count, int element_bytes,
                        const After& after) {
  if (element_bytes != 1 && element_bytes != 2 && element_bytes != 4) {
    throw Error(ErrorCode::invalid_argument, "an element that is filled has 1, 2 or 4 bytes, not " +
                                                 std::to_string(element_bytes));
  }
  const std::vector<CUgraphNode> before = dependencies(*impl_, after);
  if (count == 0) return keep(*impl_, add_empty(*impl_, before));
  CUDA_MEMSET_NODE_PARAMS params{};
  params.dst = driver::address_of(to);
  params.value = value;
  params.elementSize = static_cast<unsigned>(element_bytes);
  params.width = count;
  params.height = 1;
  return keep(*impl_, add_node(*impl_, before, "cuGraphAddMemsetNode", [&](auto... common) {
    return impl_->context->driver().cuGraphAddMemsetNode_(common..., &params,
                                                          impl_->context->handle());
  }));
}

Node GraphBuilder::record(const Event& event, const After& after) {
  const std::vector<CUgraphNode> before = dependencies(*impl_, after);
  impl_->kept.push_back(event.impl_);
  return keep(*impl_, add_node(*impl_, before, "cuGraphAddEventRecordNode", [&](auto... common) {
    return impl_->context->driver().cuGraphAddEventRecordNode_(common..., event.get());
  }));
}

Node GraphBuilder::wait(const Event& event, const After& after) {
  const std::vector<CUgraphNode> before = dependencies(*impl_, after);
  impl_->kept.push_back(event.impl_);
  return keep(*impl_, add_node(*impl_, before, "cuGraphAddEventWaitNode", [&](auto... common) {
    return impl_->context->driver().cuGraphAddEventWaitNode_(common..., event.get());
  }));
}

Node GraphBuilder::child(const Graph& graph, const After& after) {
  const std::vector<CUgraphNode> before = dependencies(*impl_, after);
  // The driver copies the graph; the copy needs its own memory for its kernels.
  std::shared_ptr<Graph::Impl> source = graph.impl_;
  if (source->needs_memory()) {
    source = graph.clone().impl_;
    impl_->child_needs_memory = true;
  }
  impl_->kept.push_back(source);
  return keep(*impl_, add_node(*impl_, before, "cuGraphAddChildGraphNode", [&](auto... common) {
    return impl_->context->driver().cuGraphAddChildGraphNode_(common..., source->handle.get());
  }));
}

Node GraphBuilder::join(const After& after) {
  return keep(*impl_, add_empty(*impl_, dependencies(*impl_, after)));
}

Graph GraphBuilder::finish() {
  std::shared_ptr<Graph::Impl> next = empty_graph(impl_->context);
  return Graph(std::exchange(impl_, std::move(next)));
}

}  // namespace tilejit
