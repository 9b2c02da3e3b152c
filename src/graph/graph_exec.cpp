#include <array>
#include <string>

#include "graph/graph_impl.hpp"
#include "launch/internals.hpp"
#include "tilejit/error.hpp"

namespace tilejit {
namespace {

/// Calls the driver again, with the context made current, where a thread has none.
template <typename Call>
void call_driver(const driver::Context& context, const char* name, Call call) {
  CUresult result = call(context.driver());
  if (result == CUDA_ERROR_INVALID_CONTEXT) [[unlikely]] {
    const driver::ContextScope scope(context);
    result = call(context.driver());
  }
  driver::check(context.driver(), result, name);
}

}  // namespace

GraphExec::Impl::Use::Use(std::shared_ptr<Graph::Impl> used) : graph(std::move(used)) {
  if (graph->executables.fetch_add(1) == 0 || !graph->needs_memory()) return;
  graph->executables.fetch_sub(1);
  throw Error(ErrorCode::unsupported,
              "this graph has kernels with memory of their own, and an executable already; clone "
              "the graph for another one");
}

GraphExec::Impl::Impl(std::shared_ptr<Graph::Impl> made_from)
    : own(std::move(made_from)), graph(own.graph), left_out(graph->items.size()) {
  const driver::Table& driver = graph->context->driver();
  const driver::ContextScope scope(*graph->context);
  CUgraphExec made = nullptr;
  driver::check(driver, driver.cuGraphInstantiate_(&made, graph->handle.get(), 0),
                "cuGraphInstantiate");
  handle = driver::UniqueGraphExec(made, {graph->context.get()});
}

const Graph::Impl::Item& GraphExec::Impl::kernel_item(Node node) const {
  const Graph::Impl::Item& item = graph->item(node);
  if (source != nullptr) {
    throw Error(
        ErrorCode::invalid_argument,
        "the executable does what another graph does since it was updated with that; update "
        "it with a whole graph");
  }
  if (item.kernel) return item;
  throw Error(ErrorCode::invalid_argument,
              "node " + std::to_string(node.number) +
                  " is no kernel, or was made without anything to launch; build the graph with "
                  "sizes that are not 0");
}

void GraphExec::Impl::enable(Node node, const Graph::Impl::Item& item, bool enabled) {
  if (left_out[node.number] != enabled) return;
  for (const CUgraphNode one : {item.first, item.last}) {
    call_driver(*graph->context, "cuGraphNodeSetEnabled", [&](const driver::Table& driver) {
      return driver.cuGraphNodeSetEnabled_(handle.get(), one, enabled ? 1 : 0);
    });
    if (item.first == item.last) break;
  }
  left_out[node.number] = !enabled;
}

void GraphExec::Impl::update(Node node, const Graph::Impl::Item& item, launch::Grid grid,
                             const std::byte* params) {
  if (grid.blocks == 0) return enable(node, item, false);
  const Kernel::Impl& kernel = *item.kernel;
  const auto set = [&](CUgraphNode which, const graph::KernelNode& what) {
    call_driver(*graph->context, "cuGraphExecKernelNodeSetParams",
                [&](const driver::Table& driver) {
                  return driver.cuGraphExecKernelNodeSetParams_(handle.get(), which, what.get());
                });
  };
  if (item.partials) {
    const auto own = graph::with_partials(kernel, params, item.partials->address());
    set(item.first, {kernel.shape(grid, item.extra_shared_bytes), own.data()});
    if (item.last != item.first) set(item.last, {kernel.combining_shape(), own.data()});
  } else {
    set(item.first, {kernel.shape(grid, item.extra_shared_bytes), params});
  }
  enable(node, item, true);
}

GraphExec::GraphExec(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
GraphExec::~GraphExec() = default;
GraphExec::GraphExec(GraphExec&&) noexcept = default;
GraphExec& GraphExec::operator=(GraphExec&&) noexcept = default;

void GraphExec::launch(Stream stream) const {
  call_driver(*impl_->graph->context, "cuGraphLaunch",
              [&](const driver::Table& driver) { return driver.cuGraphLaunch_(get(), stream); });
}

void GraphExec::update(Node node, std::span<const Argument> args, const SymbolValues& symbols) {
  const Graph::Impl::Item& item = impl_->kernel_item(node);
  alignas(16) std::array<std::byte, launch::kMaxParamBytes> params;
  SymbolValues completed;  // of a fallback
  if (item.bound) completed = launch::Internals::completed(*item.bound, symbols);
  launch::Grid grid = item.kernel->binder.bind(args, item.bound ? &completed : &symbols, params);
  if (grid.blocks > 0) grid = item.kernel->launched(grid);
  impl_->update(node, item, grid, params.data());
}

void GraphExec::update(Node node, const BoundLaunch& launch) {
  const Graph::Impl::Item& item = impl_->kernel_item(node);
  const BoundLaunch::Impl& bound = launch::Internals::of(launch);
  if (bound.kernel != item.kernel) {
    const auto& first = launch::Internals::of(bound.handle);
    if (first == item.kernel || &first->current() == item.kernel.get()) {
      throw Error(
          ErrorCode::invalid_argument,
          "node " + std::to_string(node.number) + " runs another build of " +
              item.kernel->artifact.kernel_name +
              " than the launch is bound to (tiered effort); a node keeps its build: update "
              "it with arguments");
    }
    throw Error(ErrorCode::invalid_argument,
                "node " + std::to_string(node.number) + " runs " +
                    item.kernel->artifact.kernel_name + ", and the launch is of another kernel, " +
                    bound.kernel->artifact.kernel_name + "; a node keeps its kernel");
  }
  impl_->update(node, item, bound.grid, bound.fixed.params().data());
}

::CUgraphExec_st* GraphExec::get() const noexcept {
  return impl_->handle.get();
}

}  // namespace tilejit
