#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "expr/axes.hpp"
#include "expr/functions.hpp"
#include "expr/message.hpp"
#include "expr/program.hpp"

namespace tilejit::expr {

/// A place in the text of a formula or of one of its functions.
struct Place {
  SourceText text = {};
  std::size_t position = 0;
  std::string note = {};  ///< the call, if the text is a function
};
/// Throws Error{invalid_formula} that points to `place`.
[[noreturn]] void fail_at(const Place& place, const std::string& message);

/// One way in which a formula reads a tensor.
struct TensorRead {
  int tensor = -1;
  bool transposed = false;  ///< x.T
  bool assigned = false;    ///< after its assignment: the stored value
  bool operator==(const TensorRead&) const = default;
};

/// A formula with products of matrices, or with x.T. Its values have several spaces, which are not
/// known yet, so that a value means what it is made of, at the coordinate of wherever it is used. A
/// tree keeps what depends on the space: `Node::source` of a load is an index into `reads`, of a
/// product into `products`, and `Node::axes` minus 1 is an index into `axes`. Each reduction, scan,
/// iota and extent that is written somewhere has an index of its own; equal nodes exist once
/// otherwise. An output that is read after its assignment is a load.
struct Tree {
  struct Axes {
    AxesNamed named = {};
    Place place = {};
  };
  struct Read {
    TensorRead what = {};
    Place place = {};  ///< of the first
  };
  std::vector<Node> nodes = {};
  std::vector<Store> stores = {};
  std::vector<NodeId> stored = {};  ///< of each store: the value that later reads get
  std::vector<Read> reads = {};
  std::vector<Place> products = {};
  std::vector<Axes> axes = {};
  std::shared_ptr<const FunctionTable> functions = nullptr;  ///< keeps the texts of places

  /// The bits of the axes that node `id` names in a space of `rank` axes. `by_default` as in
  /// Scope::axis. Throws Error.
  [[nodiscard]] std::uint32_t axes_of(const Node& node, int rank,
                                      const std::vector<int>& by_default) const;
};

/// A part of a tree in one space.
struct TreeSlice {
  std::vector<Store> stores = {};    ///< of nodes of the tree
  std::vector<int> sources = {};     ///< per node: Node::source as a load; -1: no load here
  std::vector<NodeId> instead = {};  ///< per node: the node whose value it has; kNoNode: its own
  NodeId product = kNoNode;          ///< the product computed here: of loads from sources 0 and 1
  int rank = 0;                      ///< axes of the space
  std::vector<int> axis = {};        ///< as in Scope
};
/// The program of a slice. Throws Error{invalid_formula}.
[[nodiscard]] Program program_of(const Tree& tree, const TreeSlice& slice);
/// The nodes that `roots` need, per node of the tree, without those behind loads of the slice.
[[nodiscard]] std::vector<bool> needed_by(const Tree& tree, const TreeSlice& slice);

/// True if `formula`, or a function that it calls, has an `@` or an `x.T`. Throws as
/// compile_formula does for what cannot be parsed.
[[nodiscard]] bool has_spaces(std::string_view formula, const std::vector<FunctionText>& functions);

/// Parses and types a formula with spaces, as compile_formula does. `formula` must outlive the
/// tree.
[[nodiscard]] Tree compile_tree(std::string_view formula, const Scope& scope);

/// What the parts of the compiler note while a tree is made.
class TreeNotes {
 public:
  explicit TreeNotes(Tree& tree) : tree_(tree) {}

  /// The number of axes that a call at `place` names, for Node::axes.
  std::uint32_t axes(AxesNamed named, Place place);
  [[nodiscard]] std::size_t count_axes() const noexcept { return tree_.axes.size(); }
  /// The number of a read, for Node::source.
  int read(const TensorRead& what, Place place);
  /// The number of the product of `a` and `b`, for Node::source.
  int product(NodeId a, NodeId b, Place place);

 private:
  Tree& tree_;
  std::vector<std::pair<NodeId, NodeId>> factors_;  // of each product
};

}  // namespace tilejit::expr
