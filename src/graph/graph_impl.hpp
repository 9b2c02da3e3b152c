#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "driver/handles.hpp"
#include "launch/kernel_impl.hpp"
#include "memory/device_memory.hpp"
#include "tilejit/graph.hpp"

namespace tilejit {

namespace graph {

/// One kernel of the driver as a node of a graph; `params` are read when it is added or set.
class KernelNode {
 public:
  KernelNode(const Kernel::Impl::Shape& shape, const std::byte* params) noexcept;
  KernelNode(const KernelNode&) = delete;  // params_ points into it
  KernelNode& operator=(const KernelNode&) = delete;
  [[nodiscard]] const CUDA_KERNEL_NODE_PARAMS* get() const noexcept { return &params_; }

 private:
  void* value_;
  CUDA_KERNEL_NODE_PARAMS params_ = {};
};

/// The parameters of a kernel with the address of its partial results filled in.
[[nodiscard]] std::vector<std::byte> with_partials(const Kernel::Impl& kernel,
                                                   const std::byte* params, CUdeviceptr partials);

}  // namespace graph

struct Graph::Impl {
  explicit Impl(std::shared_ptr<const driver::Context> owner) : context(std::move(owner)) {}

  /// What a tilejit::Node is in the driver.
  struct Item {
    CUgraphNode first = nullptr;                      // what it comes after, this does
    CUgraphNode last = nullptr;                       // what comes after it, comes after this
    std::shared_ptr<const Kernel::Impl> kernel = {};  // null: no kernel, or nothing to launch
    std::shared_ptr<const SymbolValues> bound = {};   // of a fallback: what its symbols must be
    launch::Grid grid = {};
    int extra_shared_bytes = 0;
    std::shared_ptr<const memory::DeviceMemory> partials = {};
    std::vector<std::byte> params = {};  // where there are partials
  };

  [[nodiscard]] bool needs_memory() const noexcept;
  /// The item of a node of this graph or of one it was cloned from. Throws Error{invalid_argument}.
  [[nodiscard]] const Item& item(Node node) const;

  std::shared_ptr<const driver::Context> context;
  std::uint32_t id = 0;
  std::vector<Item> items;
  std::vector<std::shared_ptr<const void>> kept;  // events, and graphs that children are copies of
  bool child_needs_memory = false;
  std::atomic<int> executables = 0;
  driver::UniqueGraph handle;  // the last: destroyed before what it refers to
};

struct GraphExec::Impl {
  /// That an executable has the memory of a graph's kernels.
  struct Use {
    /// Throws Error{unsupported} for a graph that needs memory and is in use.
    explicit Use(std::shared_ptr<Graph::Impl> used);
    ~Use() { graph->executables.fetch_sub(1); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    std::shared_ptr<Graph::Impl> graph;
  };

  explicit Impl(std::shared_ptr<Graph::Impl> made_from);

  [[nodiscard]] const Graph::Impl::Item& kernel_item(Node node) const;
  void update(Node node, const Graph::Impl::Item& item, launch::Grid grid, const std::byte* params);
  void enable(Node node, const Graph::Impl::Item& item, bool enabled);

  Use own;
  std::shared_ptr<Graph::Impl> graph;  // own's
  std::unique_ptr<Use> source;         // what it was updated from; null: nothing, or graph
  driver::UniqueGraphExec handle;      // destroyed before what it refers to
  std::vector<bool> left_out;          // one an item: it has nothing to launch now
};

}  // namespace tilejit
