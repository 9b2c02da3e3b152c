#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace tilejit::render {

/// In which pass over a row each value of a program is known: reductions of stage s are folded in
/// pass s, from values that earlier stages and the elements give.
struct Stages {
  int count = 0;             ///< passes that fold; 0 without reductions
  std::vector<int> level;    ///< a node: passes that must be over before it is known
  std::vector<bool> in_row;  ///< a node: may differ between the elements of a row
  /// A node: made of results and constants alone, for values of elements. Computed once a row, with
  /// the last result that it is made of.
  std::vector<bool> hoisted;

  std::vector<expr::RescaledSum> sums;  ///< a node: the maximum in whose pass it is folded
  /// A node: the scan whose total it is. Such reductions have no pass of their own, and come with
  /// number `count` for all others.
  std::vector<expr::NodeId> totals;

  /// The reductions of pass `stage` that take an element by itself, and those that ask for a
  /// maximum among them.
  [[nodiscard]] std::vector<expr::NodeId> folded(const expr::Program& program, int stage) const;
  [[nodiscard]] std::vector<expr::NodeId> rescaled(const expr::Program& program, int stage) const;
  /// All reductions that pass `stage` folds, and the hoisted nodes that are known behind it.
  [[nodiscard]] std::vector<expr::NodeId> reductions(const expr::Program& program, int stage) const;
  [[nodiscard]] std::vector<expr::NodeId> hoisted_at(int stage) const;
  [[nodiscard]] static std::vector<expr::NodeId> scans(const expr::Program& program);
  [[nodiscard]] bool is_rescaled(expr::NodeId id) const {
    return sums[static_cast<std::size_t>(id)].maximum != expr::kNoNode;
  }
  [[nodiscard]] bool is_total(expr::NodeId id) const {
    return totals[static_cast<std::size_t>(id)] != expr::kNoNode;
  }
  /// Whether the row's results have the node.
  [[nodiscard]] bool is_result(const expr::Program& program, expr::NodeId id) const;
  /// The nodes that `roots` need, down to loads, constants and results; results and scans among the
  /// roots are taken for their arguments.
  [[nodiscard]] std::vector<bool> needed_for(const expr::Program& program,
                                             const std::vector<expr::NodeId>& roots) const;
  /// The same of rescaled sums of pass `stage`: what is made of its results is among the nodes.
  [[nodiscard]] std::vector<bool> needed_for_rescaled(const expr::Program& program,
                                                      int stage) const;
};

[[nodiscard]] Stages find_stages(const plan::Plan& plan);

}  // namespace tilejit::render
