#include <algorithm>
#include <array>
#include <string>

#include "graph/graph_impl.hpp"
#include "launch/bound_launch_impl.hpp"
#include "launch/internals.hpp"
#include "tilejit/error.hpp"

namespace tilejit {
namespace {

/// Calls the driver. If this thread has no context, makes it current and calls again.
template <typename Call>
void call_driver(const driver::Context& context, const char* name, Call call) {
  CUresult result = call(context.driver());
  if (result == CUDA_ERROR_INVALID_CONTEXT) [[unlikely]] {
    const driver::ContextScope scope(context);
    result = call(context.driver());
  }
  driver::check(context.driver(), result, name);
}

[[noreturn]] void refuse_empty(Node node) {
  throw Error(ErrorCode::invalid_argument,
              "node " + std::to_string(node.number) +
                  " is no kernel, or was made without anything to launch; build the graph with "
                  "sizes that are not 0");
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
    : own(std::move(made_from)), graph(own.graph) {
  for (const Graph::Impl::Item& item : graph->items) {
    left_out.emplace_back(item.steps.size());
    const bool is_plain = item.kernel && item.kernel->is_simple && item.extra_shared_bytes == 0;
    plain.push_back(is_plain ? Plain{item.steps[0], item.kernel.get()} : Plain());
  }
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
  refuse_empty(node);
}

void GraphExec::Impl::enable(Node node, const Graph::Impl::Item& item, std::size_t step,
                             bool enabled) {
  if (enabled && left_out_count == 0) [[likely]]
    return;
  std::vector<bool>& out = left_out[node.number];
  if (out[step] != enabled) return;
  call_driver(*graph->context, "cuGraphNodeSetEnabled", [&](const driver::Table& driver) {
    return driver.cuGraphNodeSetEnabled_(handle.get(), item.steps[step], enabled ? 1 : 0);
  });
  out[step] = !enabled;
  left_out_count += enabled ? -1 : 1;
}

CUdeviceptr GraphExec::Impl::workspace(Node node, const Graph::Impl::Item& item,
                                       std::int64_t bytes) {
  const auto found = grown.find(node.number);
  const auto& now = found == grown.end() ? item.workspace : found->second.back();
  if (now && now->bytes() >= bytes) return now->address();
  // Running launches may still use the old memory, so it stays. Doubling keeps the total small.
  const std::int64_t wanted = std::max(bytes, now ? 2 * now->bytes() : 0);
  auto& own = grown[node.number];
  own.push_back(item.kernel->make_workspace(wanted));
  return own.back()->address();
}

inline bool GraphExec::Impl::is_plain(Node node, const Kernel::Impl* kernel) const noexcept {
  return node.graph == graph->id && node.number < plain.size() &&
         plain[node.number].kernel == kernel && source == nullptr && left_out_count == 0;
}

inline void GraphExec::Impl::set_node(CUgraphNode node, const launch::KernelNode& what) const {
  call_driver(*graph->context, "cuGraphExecKernelNodeSetParams", [&](const driver::Table& driver) {
    return driver.cuGraphExecKernelNodeSetParams_(handle.get(), node, what.get());
  });
}

// In line, with `update`: behind each call of the driver, code must be fetched again.
[[gnu::always_inline]] inline void GraphExec::Impl::set_params(const Graph::Impl::Item& item,
                                                               std::size_t step, launch::Grid grid,
                                                               const std::byte* params) const {
  set_node(item.steps[step], item.node(step, grid, params));
}

[[gnu::always_inline]] inline void GraphExec::Impl::update(Node node, const Graph::Impl::Item& item,
                                                           const launch::BoundParams& bound) {
  const bool is_simple = item.steps.size() == 1 && bound.workspace_bytes == 0;
  if (is_simple && item.steps[0] != nullptr && bound.grids[0].blocks != 0) [[likely]] {
    set_params(item, 0, bound.grids[0], bound.params);
    enable(node, item, 0, true);
  } else {
    update_steps(node, item, bound);
  }
}

[[gnu::noinline]] void GraphExec::Impl::update_steps(Node node, const Graph::Impl::Item& item,
                                                     const launch::BoundParams& bound) {
  for (std::size_t i = 0; i < item.steps.size(); ++i) {
    if (item.steps[i] == nullptr && bound.grids[i].blocks != 0) refuse_empty(node);
  }
  launch::ParamBytes placed;
  if (bound.any() && bound.workspace_bytes > 0) {
    const CUdeviceptr address = workspace(node, item, bound.workspace_bytes);
    placed = graph::with_workspaces(*item.kernel, bound.params, address);
  }
  const std::byte* const params = placed.empty() ? bound.params : placed.data();
  for (std::size_t i = 0; i < item.steps.size(); ++i) {
    if (item.steps[i] == nullptr) continue;
    if (bound.grids[i].blocks != 0) set_params(item, i, bound.grids[i], params);
    enable(node, item, i, bound.grids[i].blocks != 0);
  }
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
  const Kernel::Impl& kernel = *item.kernel;
  if (symbols.empty() && !item.bound) [[likely]] {
    // Initialised only as far as it is used.
    alignas(16) std::array<std::byte, launch::BindProgram::kMaxParamBytes> params;
    if (kernel.program.bind(args, params) != 0) [[likely]] {
      launch::Grid grid = kernel.known_grid;
      kernel.limit({&grid, 1});
      return impl_->update(node, item, {params.data(), {&grid, 1}});
    }
  }
  launch::ParamSpace space(kernel.binder.param_bytes(), kernel.binder.step_count());
  SymbolValues completed;  // for a fallback
  if (item.bound) completed = launch::Internals::completed(*item.bound, symbols);
  const launch::BoundParams bound =
      kernel.binder.bind(args, item.bound ? &completed : &symbols, space);
  kernel.limit(space.grids());
  impl_->update(node, item, bound);
}

void GraphExec::update(Node node, const BoundLaunch& launch) {
  const BoundLaunch::Impl& bound = launch::Internals::of(launch);
  if (impl_->is_plain(node, bound.kernel.get()) && bound.node) [[likely]]
    return impl_->set_node(impl_->plain[node.number].node, *bound.node);
  const Graph::Impl::Item& item = impl_->kernel_item(node);
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
  impl_->update(node, item, bound.bound());
}

::CUgraphExec_st* GraphExec::get() const noexcept {
  return impl_->handle.get();
}

}  // namespace tilejit
