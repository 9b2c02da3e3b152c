#include <array>
#include <string>

#include "runtime/graph_impl.hpp"
#include "runtime/internals.hpp"
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

GraphExec::Impl::Impl(std::shared_ptr<Graph::Impl> source) : graph(std::move(source)) {
  const driver::Table& driver = graph->context->driver();
  const driver::ContextScope scope(*graph->context);
  if (graph->executables.fetch_add(1) > 0 && graph->needs_memory()) {
    graph->executables.fetch_sub(1);
    throw Error(ErrorCode::unsupported,
                "this graph has kernels with memory of their own, and an executable already; clone "
                "the graph for another one");
  }
  CUgraphExec made = nullptr;
  const CUresult result = driver.cuGraphInstantiate_(&made, graph->handle.get(), 0);
  if (result != CUDA_SUCCESS) graph->executables.fetch_sub(1);
  driver::check(driver, result, "cuGraphInstantiate");
  handle = driver::UniqueGraphExec(made, {&driver});
  left_out.resize(graph->items.size());
}

GraphExec::Impl::~Impl() {
  handle.reset();
  graph->executables.fetch_sub(1);
}

const Graph::Impl::Item& GraphExec::Impl::kernel_item(Node node) const {
  const Graph::Impl::Item& item = graph->item(node);
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

void GraphExec::Impl::update(Node node, const Graph::Impl::Item& item, runtime::Grid grid,
                             const std::byte* params) {
  if (grid.blocks == 0) return enable(node, item, false);
  const Kernel::Impl& kernel = *item.kernel;
  const auto set = [&](CUgraphNode which, const runtime::KernelNode& what) {
    call_driver(*graph->context, "cuGraphExecKernelNodeSetParams",
                [&](const driver::Table& driver) {
                  return driver.cuGraphExecKernelNodeSetParams_(handle.get(), which, what.get());
                });
  };
  if (item.partials) {
    const auto own = runtime::with_partials(kernel, params, item.partials->address());
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
  alignas(16) std::array<std::byte, runtime::kMaxParamBytes> params;
  runtime::Grid grid = item.kernel->binder.bind(args, &symbols, params);
  if (grid.blocks > 0) grid = item.kernel->launched(grid);
  impl_->update(node, item, grid, params.data());
}

void GraphExec::update(Node node, const BoundLaunch& launch) {
  const Graph::Impl::Item& item = impl_->kernel_item(node);
  const BoundLaunch::Impl& bound = runtime::Internals::of(launch);
  if (bound.kernel != item.kernel) {
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
