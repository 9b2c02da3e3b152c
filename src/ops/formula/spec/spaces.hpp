#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "expr/tree.hpp"
#include "tilejit/dim.hpp"
#include "tilejit/fused.hpp"

namespace tilejit::formula {

using Extents = std::vector<Dim>;

/// "(4,N)".
[[nodiscard]] std::string text_of(const Extents& shape);
/// The product of each top-level mode.
[[nodiscard]] Extents extents_of(const Layout& layout);
/// The layout with its last two modes swapped; it has two at least.
[[nodiscard]] Layout transposed(const Layout& layout);

/// The spaces of a tree's values. A value's space is the broadcast shape of its leaves: of the
/// tensors that it reads, and of products, whose operands have spaces of their own. Functions throw
/// Error with a caret where extents do not meet. Keeps views of its arguments.
class Spaces {
 public:
  Spaces(const Fused& op, const expr::Tree& tree);

  /// The loads and products that the stores of `slice` are made of, in order, without those behind
  /// products.
  [[nodiscard]] std::vector<expr::NodeId> leaves_of(const expr::TreeSlice& slice) const;
  /// A slice of one value in which every load and product is a leaf.
  [[nodiscard]] expr::TreeSlice slice_of(expr::NodeId root) const;
  /// The shape of a load or a product.
  [[nodiscard]] const Extents& shape_of(expr::NodeId leaf);
  /// Says the shape of a leaf that reads no tensor of the operation.
  void set_shape(expr::NodeId leaf, Extents shape) { shapes_[leaf] = std::move(shape); }
  /// The broadcast shape of leaves, and of `also`; nothing if they do not broadcast.
  [[nodiscard]] std::optional<Extents> meet(const std::vector<expr::NodeId>& leaves,
                                            const Extents& also = {});
  /// The same; throws.
  [[nodiscard]] Extents broadcast(const std::vector<expr::NodeId>& leaves);
  [[nodiscard]] expr::Place place_of(expr::NodeId leaf) const;

 private:
  [[nodiscard]] Extents shape_of_read(const expr::Tree::Read& read) const;
  [[nodiscard]] Extents shape_of_product(expr::NodeId id);
  [[nodiscard]] Extents shape_of_operand(expr::NodeId product, int side);
  [[nodiscard]] std::string describe(expr::NodeId leaf);

  const Fused& op_;
  const expr::Tree& tree_;
  std::map<expr::NodeId, Extents> shapes_;
};

}  // namespace tilejit::formula
