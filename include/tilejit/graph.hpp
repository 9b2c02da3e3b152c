#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tilejit/bound_launch.hpp"
#include "tilejit/kernel.hpp"
#include "tilejit/stream.hpp"

struct CUgraph_st;      // CUDA's graph; CUgraph and cudaGraph_t are pointers to it
struct CUgraphExec_st;  // CUDA's executable graph, likewise

namespace tilejit {

class Graph;
class Runtime;

/// A node of a graph that a GraphBuilder made. Valid for that graph, its clones and their
/// executables.
struct Node {
  std::uint32_t graph = 0;
  std::uint32_t number = 0;  ///< in the order of addition
  bool operator==(const Node&) const = default;
};

/// The nodes that a node comes after: none, one, or several.
class After {
 public:
  After() = default;
  After(Node node) : nodes_{node} {}                            // NOLINT: written as a node
  After(std::initializer_list<Node> nodes) : nodes_(nodes) {}   // NOLINT
  After(std::vector<Node> nodes) : nodes_(std::move(nodes)) {}  // NOLINT
  [[nodiscard]] const std::vector<Node>& nodes() const noexcept { return nodes_; }

 private:
  std::vector<Node> nodes_;
};

/// A graph that can be launched: as instantiated, plus later updates. Move-only; keeps its graph's
/// kernels, events and memory. Its launches run one after another, on whatever streams. launch is
/// thread-safe; update must not run beside another call.
class GraphExec {
 public:
  struct Impl;  // the library's own

  ~GraphExec();
  GraphExec(GraphExec&&) noexcept;
  GraphExec& operator=(GraphExec&&) noexcept;

  /// Launches on `stream` and returns at once. Throws Error{driver_call}.
  void launch(Stream stream) const;

  /// Gives a kernel node other arguments from the next launch on, without instantiating again.
  /// Sizes may differ; arguments that leave nothing to do leave the node out until the next update.
  /// Throws Error{invalid_argument} as Kernel::launch does, or if `node` is no kernel of this graph
  /// or was made without anything to launch.
  void update(Node node, std::span<const Argument> args, const SymbolValues& symbols = {});
  void update(Node node, std::initializer_list<Argument> args, const SymbolValues& symbols = {}) {
    update(node, std::span<const Argument>(args.begin(), args.size()), symbols);
  }
  /// The same with a bound launch of the node's kernel. Ignores its options: those of the node
  /// stay.
  void update(Node node, const BoundLaunch& launch);
  /// From the next launch on does what `graph` does. That graph must have the same nodes in the
  /// same order: built or captured again, with other arguments, sizes or kernels. Keeps its
  /// kernels, events and memory too. Single nodes can be updated again once this does what its own
  /// graph does. Throws Error{unsupported}, which names the node and says why, and then changes
  /// nothing; also if `graph` needs memory and has another executable.
  void update(const Graph& graph);

  [[nodiscard]] ::CUgraphExec_st* get() const noexcept;

 private:
  friend class Graph;
  explicit GraphExec(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// A graph of kernels, copies and events: built (GraphBuilder) or captured (Capture). Move-only;
/// may outlive the Runtime. Thread-safe.
class Graph {
 public:
  struct Impl;  // the library's own

  ~Graph();
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;

  /// Kernels that need memory of their own (Rows::splits) have it from a built graph. A graph with
  /// such kernels has one executable at a time: Error{unsupported} for a second one. Throws
  /// Error{driver_call}.
  [[nodiscard]] GraphExec instantiate() const;
  /// Another graph of the same nodes, with memory of its own. Throws Error{driver_call} for graphs
  /// that allocate memory, as captured ones may; Error{unsupported} if a child graph needs memory.
  [[nodiscard]] Graph clone() const;

  /// The number of nodes, as the driver counts them. Throws Error{driver_call}, as do the pictures.
  [[nodiscard]] std::size_t size() const;
  /// Text in Graphviz's language.
  [[nodiscard]] std::string to_dot() const;
  /// A picture: a row holds what can run at once.
  [[nodiscard]] std::string to_svg() const;

  [[nodiscard]] ::CUgraph_st* get() const noexcept;

 private:
  friend class GraphBuilder;
  friend class GraphExec;
  friend class Capture;
  explicit Graph(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

/// Makes a graph node by node. A node runs after those given as `after`; otherwise nodes run in any
/// order, or at once. All functions throw Error{invalid_argument} for nodes of other graphs, and
/// Error{driver_call}. Not thread-safe. Addresses must be valid when the graph runs.
class GraphBuilder {
 public:
  /// A graph for the Runtime's device.
  explicit GraphBuilder(const Runtime& runtime);
  ~GraphBuilder();
  GraphBuilder(GraphBuilder&&) noexcept;
  GraphBuilder& operator=(GraphBuilder&&) noexcept;

  /// A launch; throws as Kernel::launch does. If the kernel has nothing to do, the node does
  /// nothing.
  Node kernel(const Kernel& kernel, std::span<const Argument> args, const After& after = {},
              const SymbolValues& symbols = {});
  Node kernel(const Kernel& kernel, std::initializer_list<Argument> args, const After& after = {},
              const SymbolValues& symbols = {}) {
    return this->kernel(kernel, std::span<const Argument>(args.begin(), args.size()), after,
                        symbols);
  }
  /// The same with a bound launch and its options. LaunchOptions::overlap, which is for streams,
  /// has no effect.
  Node kernel(const BoundLaunch& launch, const After& after = {});

  /// Copies `bytes` bytes between device and host memory, either way.
  Node copy(void* to, const void* from, std::size_t bytes, const After& after = {});
  /// Writes `value` to `count` elements of 1, 2 or 4 bytes.
  Node fill(void* to, std::uint32_t value, std::size_t count, int element_bytes = 1,
            const After& after = {});
  /// Marks `event` when the node is reached, or lets what follows wait for its mark.
  Node record(const Event& event, const After& after = {});
  Node wait(const Event& event, const After& after = {});
  /// Runs a copy of `graph` as it is now. Throws Error{unsupported} if a child of `graph` needs
  /// memory.
  Node child(const Graph& graph, const After& after = {});
  /// Does nothing; comes after several nodes.
  Node join(const After& after);

  /// Returns what was built; the builder then starts anew.
  [[nodiscard]] Graph finish();

 private:
  std::shared_ptr<Graph::Impl> impl_;
};

/// Captures what is put on a stream into a graph, from here to end(). Kernels of this library may
/// be compiled, loaded and launched meanwhile, in every mode. Without end() what was captured is
/// dropped. Move-only. The Kernels launched, or the Runtime, must outlive the graph's executables.
class Capture {
 public:
  /// Whose calls may not do what a capture forbids (allocating, synchronising, asking events):
  /// those of any thread; those of this thread; nobody's.
  enum class Mode : std::uint8_t { global, thread, relaxed };

  /// Throws Error{invalid_argument} for the legacy default stream, which cannot be captured;
  /// Error{driver_call}, also if the stream is being captured already.
  Capture(const Runtime& runtime, Stream stream, Mode mode = Mode::thread);
  ~Capture();
  Capture(Capture&&) noexcept;
  Capture& operator=(Capture&&) noexcept;

  /// Throws Error{driver_call} if the capture is broken. The error names the last place that was
  /// passed, this one, and the call that broke it, if this library made that call.
  void pass(std::string_view place);
  /// Throws as pass.
  [[nodiscard]] Graph end();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilejit
