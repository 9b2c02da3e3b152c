#include "tilejit/graph.hpp"

#include <algorithm>
#include <string>

#include "graph/graph_impl.hpp"
#include "graph/graph_picture.hpp"
#include "tilejit/error.hpp"

namespace tilejit {

namespace graph {

launch::ParamBytes with_workspaces(const Kernel::Impl& kernel, const std::byte* params,
                                   CUdeviceptr address) {
  launch::ParamBytes own(kernel.binder.param_bytes());
  kernel.place_workspaces(params, address, own);
  return own;
}

}  // namespace graph

bool Graph::Impl::needs_memory() const noexcept {
  return child_needs_memory ||
         std::ranges::any_of(items, [](const Item& item) { return item.workspace != nullptr; });
}

const Graph::Impl::Item& Graph::Impl::item(Node node) const {
  if (node.graph == id && node.number < items.size()) return items[node.number];
  throw Error(ErrorCode::invalid_argument,
              "the node is of another graph; pass what this graph's builder returned");
}

namespace {

/// Gives an item of a copied graph memory of its own.
void renew_workspace(const Graph::Impl& graph, Graph::Impl::Item& item) {
  item.workspace = item.kernel->make_workspace(item.workspace->bytes());
  const launch::ParamBytes params =
      graph::with_workspaces(*item.kernel, item.params.data(), item.workspace->address());
  const driver::Table& driver = graph.context->driver();
  for (std::size_t i = 0; i < item.steps.size(); ++i) {
    if (item.steps[i] == nullptr) continue;
    driver::check(driver,
                  driver.cuGraphKernelNodeSetParams_(
                      item.steps[i], item.node(i, item.grids[i], params.data()).get()),
                  "cuGraphKernelNodeSetParams");
  }
}

}  // namespace

Graph::Graph(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Graph::~Graph() = default;
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;

GraphExec Graph::instantiate() const {
  return GraphExec(std::make_unique<GraphExec::Impl>(impl_));
}

Graph Graph::clone() const {
  if (impl_->child_needs_memory) {
    throw Error(ErrorCode::unsupported,
                "a child of this graph has kernels with memory of their own, which a copy would "
                "share; build the graph again");
  }
  const driver::Table& driver = impl_->context->driver();
  const driver::ContextScope scope(*impl_->context);
  auto copy = std::make_shared<Impl>(impl_->context);
  CUgraph handle = nullptr;
  driver::check(driver, driver.cuGraphClone_(&handle, get()), "cuGraphClone");
  copy->handle = driver::UniqueGraph(handle, {impl_->context.get()});
  copy->id = impl_->id;
  copy->kept = impl_->kept;
  const auto find = [&](CUgraphNode original) {
    CUgraphNode found = nullptr;
    driver::check(driver, driver.cuGraphNodeFindInClone_(&found, original, handle),
                  "cuGraphNodeFindInClone");
    return found;
  };
  for (Impl::Item item : impl_->items) {
    item.last = find(item.last);
    for (CUgraphNode& step : item.steps) {
      if (step != nullptr) step = find(step);
    }
    if (item.workspace) renew_workspace(*copy, item);
    copy->items.push_back(std::move(item));
  }
  return Graph(std::move(copy));
}

std::size_t Graph::size() const {
  const driver::Table& driver = impl_->context->driver();
  std::size_t count = 0;
  driver::check(driver, driver.cuGraphGetNodes_(get(), nullptr, &count), "cuGraphGetNodes");
  return count;
}

std::string Graph::to_dot() const {
  return graph::to_dot(graph::picture_of(impl_->context->driver(), get()));
}

std::string Graph::to_svg() const {
  return graph::to_svg(graph::picture_of(impl_->context->driver(), get()));
}

::CUgraph_st* Graph::get() const noexcept {
  return impl_->handle.get();
}

}  // namespace tilejit
