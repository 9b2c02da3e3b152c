#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <vector>

#include "driver/handles.hpp"
#include "launch/kernel_node.hpp"
#include "memory/device_memory.hpp"
#include "tilejit/graph.hpp"

namespace tilejit {

namespace graph {

/// The parameters of an operation's kernels, with the addresses of its workspaces filled in.
[[nodiscard]] launch::ParamBytes with_workspaces(const Kernel::Impl& kernel,
                                                 const std::byte* params, CUdeviceptr address);

}  // namespace graph

struct Graph::Impl {
  explicit Impl(std::shared_ptr<const driver::Context> owner) : context(std::move(owner)) {}

  /// What the driver has for a tilejit::Node.
  struct Item {
    CUgraphNode last = nullptr;                       // the node that later nodes depend on
    std::shared_ptr<const Kernel::Impl> kernel = {};  // null: not a kernel, or nothing to launch
    // For a fallback: the required values of its symbols.
    std::shared_ptr<const SymbolValues> bound = {};
    std::vector<launch::Grid> grids = {};  // one per step of the kernel's operation
    std::vector<CUgraphNode> steps = {};   // likewise; null: the step had nothing to do
    std::size_t first = 0;                 // the step whose node comes first
    int extra_shared_bytes = 0;            // of the first step's node
    std::shared_ptr<const memory::DeviceMemory> workspace = {};
    launch::ParamBytes params = {};  // as bound, if there is a workspace

    /// The driver's description of a step with that grid; `params` are those of all steps.
    [[nodiscard]] launch::KernelNode node(std::size_t step, launch::Grid grid,
                                          const std::byte* params) const {
      return {kernel->shape(step, grid, step == first ? extra_shared_bytes : 0),
              step == 0 ? params : params + kernel->binder.param_offset(step)};
    }
  };

  [[nodiscard]] bool needs_memory() const noexcept;
  /// The item of a node that belongs to this graph or to one it was cloned from. Throws
  /// Error{invalid_argument}.
  [[nodiscard]] const Item& item(Node node) const;

  std::shared_ptr<const driver::Context> context;
  std::uint32_t id = 0;
  std::vector<Item> items;
  // Events, and the graphs that children are copies of.
  std::vector<std::shared_ptr<const void>> kept;
  bool child_needs_memory = false;
  std::atomic<int> executables = 0;
  driver::UniqueGraph handle;  // last: destroyed before what it refers to
};

struct GraphExec::Impl {
  /// Marks that an executable uses the memory of a graph's kernels.
  struct Use {
    /// Throws Error{unsupported} if the graph needs memory and is already in use.
    explicit Use(std::shared_ptr<Graph::Impl> used);
    ~Use() { graph->executables.fetch_sub(1); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    std::shared_ptr<Graph::Impl> graph;
  };

  explicit Impl(std::shared_ptr<Graph::Impl> made_from);

  [[nodiscard]] const Graph::Impl::Item& kernel_item(Node node) const;
  void update(Node node, const Graph::Impl::Item& item, const launch::BoundParams& bound);
  /// The same for operations of several kernels, with workspaces, or with nothing to launch.
  void update_steps(Node node, const Graph::Impl::Item& item, const launch::BoundParams& bound);
  /// True if the node is a plain one of `kernel`, and all nodes are enabled.
  [[nodiscard]] bool is_plain(Node node, const Kernel::Impl* kernel) const noexcept;
  void set_node(CUgraphNode node, const launch::KernelNode& what) const;
  void set_params(const Graph::Impl::Item& item, std::size_t step, launch::Grid grid,
                  const std::byte* params) const;
  /// The address of the item's workspaces from now on.
  [[nodiscard]] CUdeviceptr workspace(Node node, const Graph::Impl::Item& item, std::int64_t bytes);
  void enable(Node node, const Graph::Impl::Item& item, std::size_t step, bool enabled);

  /// A node of one step without workspaces or extra shared memory; else empty.
  struct Plain {
    CUgraphNode node = nullptr;
    const Kernel::Impl* kernel = nullptr;
  };

  Use own;
  std::shared_ptr<Graph::Impl> graph;  // the graph of `own`
  std::vector<Plain>
      plain;  // per item: few lines of memory, since the driver needs many of its own
  std::unique_ptr<Use> source;  // the graph of the last update; null: none, or `graph`
  /// Memory of items whose updates need more than the graph's own; the last one is in use.
  std::map<std::uint32_t, std::vector<std::shared_ptr<const memory::DeviceMemory>>> grown;
  driver::UniqueGraphExec handle;           // destroyed before what it refers to
  std::vector<std::vector<bool>> left_out;  // per item and step: true if it has nothing to do now
  std::size_t left_out_count = 0;           // of those that are true
};

}  // namespace tilejit
