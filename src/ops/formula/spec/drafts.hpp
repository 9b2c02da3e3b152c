#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "formula/analysis.hpp"
#include "formula/factors.hpp"
#include "formula/spaces.hpp"

namespace tilejit::formula {

/// How a step reads memory: a tensor of the operation by its number, or a result of another step,
/// numbered after them.
struct Source {
  int memory = -1;
  bool transposed = false;
  bool assigned = false;  ///< the value that another step of the formula has stored there
  DType dtype = f32;
  auto operator<=>(const Source&) const = default;
};

/// A step before its tensors have numbers: stores of nodes of the tree, with the memory that its
/// loads and products come from.
struct Draft {
  std::vector<expr::Store> stores = {};  ///< Store::tensor is memory
  std::map<expr::NodeId, Source> leaves = {};
  /// Loads of what the step itself stores: the node whose value they have.
  std::map<expr::NodeId, expr::NodeId> instead = {};
  Extents shape = {};  ///< the space
  /// A product step: the Op::matmul, which is no leaf, and its operands.
  expr::NodeId product = expr::kNoNode;
  Source a = {}, b = {};
  std::string why = {};
};

/// Splits a tree into drafts: a product each, what an operand is computed from, and outputs that
/// share a space.
class Drafts {
 public:
  /// `factors` are the leaves of `move_factors`, which has been called for `tree`.
  Drafts(const Fused& op, expr::Tree& tree, std::map<expr::NodeId, Factor> factors);

  /// Makes all drafts, in an order in which each comes after what it reads. Throws Error with a
  /// caret for shapes that do not meet.
  void make();

  [[nodiscard]] const std::vector<Draft>& drafts() const noexcept { return drafts_; }
  /// Their names have no numbers yet, and some may have no step that makes them.
  [[nodiscard]] const std::vector<StepResult>& results() const noexcept { return results_; }
  /// The part of the tree that a draft computes; loads have the number of their leaf among
  /// Draft::leaves.
  [[nodiscard]] expr::TreeSlice slice_of(const Draft& draft) const;

 private:
  /// Outputs of one step.
  struct Group {
    std::vector<std::size_t> stores;
    std::vector<expr::NodeId> products;
    Extents shape;
  };

  [[nodiscard]] const expr::Node& node(expr::NodeId id) const {
    return tree_.nodes[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] int memory_count() const noexcept;
  [[nodiscard]] Source source_of(expr::NodeId leaf);
  [[nodiscard]] Source operand(expr::NodeId id, const char* side);
  [[nodiscard]] std::optional<Source> in_memory(expr::NodeId id) const;
  int product_in_memory(expr::NodeId id);
  int factor_in_memory(expr::NodeId leaf, const Factor& factor);
  int add_once(Draft draft, const std::string& kind, DType dtype, const Extents& shape);
  [[nodiscard]] std::string text_of(const Draft& draft) const;
  int add_result(const std::string& kind, DType dtype, const Extents& shape);

  void group_outputs();
  [[nodiscard]] bool join(Group& group, std::size_t store);
  [[nodiscard]] bool is_made_of(expr::NodeId leaf, const Group& group) const;
  [[nodiscard]] expr::TreeSlice slice_with(const Group& group, std::size_t store) const;
  [[nodiscard]] Extents aligned_shape(std::size_t store, const Extents& leaves) const;
  void add_group(const Group& group);

  void fuse_products();
  [[nodiscard]] const char* refusal(const Draft& user, const Draft& product) const;
  [[nodiscard]] int users_of(int memory) const;

  void keep_old_values();
  [[nodiscard]] bool replaces_early(const Draft& draft, int memory) const;
  [[nodiscard]] bool order();
  void snapshot(int memory);

  const Fused& op_;
  expr::Tree& tree_;
  Spaces spaces_;
  std::vector<Draft> drafts_;
  std::vector<StepResult> results_;
  std::vector<Group> groups_;
  std::map<expr::NodeId, int> products_;              // in memory
  std::map<expr::NodeId, int> operands_;              // in memory, and factors
  std::map<expr::NodeId, Factor> factors_;            // by leaf
  std::map<std::string, int> texts_;                  // of operands and factors
  std::map<std::pair<Source, Source>, int> sources_;  // of products
};

}  // namespace tilejit::formula
