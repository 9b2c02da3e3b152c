#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace tilejit::render {

/// The pass over a row in which each value of a program is known. Pass s folds the reductions of
/// pass s from elements and from results of earlier passes.
struct Passes {
  int count = 0;             ///< passes that fold; 0 without reductions
  std::vector<int> level;    ///< per node: passes that must be over before it is known
  std::vector<bool> in_row;  ///< per node: whether it may differ between the elements of a row
  /// Per node: whether it is made only of results and constants, and values of elements need it. It
  /// is computed once per row, together with the last result of which it is made.
  std::vector<bool> hoisted;

  /// Per node: whether a thread computes it once for each element that it holds, and then holds it
  /// in the place of what it is made of; or once for each of its columns, if `held_of_rows`.
  std::vector<bool> held;
  bool held_of_rows = false;

  std::vector<expr::JoinedSum> sums;  ///< per node: the reduction in whose pass it is folded
  /// Per node: the scan whose total it is. Such reductions have no pass of their own; all other
  /// functions find them at pass `count`.
  std::vector<expr::NodeId> totals;

  /// `folded` returns the reductions of pass `pass` that take each element by itself, `rescaled`
  /// those that need a maximum of the same pass, and `centred` those that need a mean of it.
  [[nodiscard]] std::vector<expr::NodeId> folded(const expr::Program& program, int pass) const;
  [[nodiscard]] std::vector<expr::NodeId> rescaled(const expr::Program& program, int pass) const;
  [[nodiscard]] std::vector<expr::NodeId> centred(const expr::Program& program, int pass) const;
  /// The sums of pass `pass` whose distances to their mean are folded together with them.
  [[nodiscard]] std::vector<expr::NodeId> centres(const expr::Program& program, int pass) const;
  /// All reductions that pass `pass` folds, and the hoisted nodes that are known after it.
  [[nodiscard]] std::vector<expr::NodeId> reductions(const expr::Program& program, int pass) const;
  [[nodiscard]] std::vector<expr::NodeId> hoisted_at(int pass) const;
  [[nodiscard]] static std::vector<expr::NodeId> scans(const expr::Program& program);
  [[nodiscard]] bool is_rescaled(expr::NodeId id) const {
    return sums[static_cast<std::size_t>(id)].maximum != expr::kNoNode;
  }
  [[nodiscard]] bool is_centred(expr::NodeId id) const {
    return sums[static_cast<std::size_t>(id)].total != expr::kNoNode;
  }
  [[nodiscard]] bool is_total(expr::NodeId id) const {
    return totals[static_cast<std::size_t>(id)] != expr::kNoNode;
  }
  [[nodiscard]] bool is_held(expr::NodeId id) const {
    return !held.empty() && held[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] std::vector<expr::NodeId> held_nodes() const;
  [[nodiscard]] Passes without_held() const;
  /// The nodes that are computed before all passes, down to loads and constants.
  [[nodiscard]] std::vector<bool> needed_for_held(const expr::Program& program) const;
  /// Whether the node is one of the row's results.
  [[nodiscard]] bool is_result(const expr::Program& program, expr::NodeId id) const;
  /// The nodes that `roots` need, down to loads, constants, results, and values that are held. A
  /// result or scan among the roots stands for its arguments.
  [[nodiscard]] std::vector<bool> needed_for(const expr::Program& program,
                                             const std::vector<expr::NodeId>& roots) const;
  /// The same for the rescaled sums of pass `pass`, including the nodes that are made of the
  /// pass's results.
  [[nodiscard]] std::vector<bool> needed_for_rescaled(const expr::Program& program, int pass) const;
};

[[nodiscard]] Passes find_passes(const plan::Plan& plan);

inline constexpr int kHeavyValues = 16;  ///< instructions of an element

/// Instructions of a node for an element.
[[nodiscard]] int cost_of(const expr::Node& node);
/// Per node, how many passes need it, except the one that stores.
[[nodiscard]] std::vector<int> passes_that_need(const plan::Plan& plan, const Passes& passes);

/// Whether threads compute values of elements that may not exist, too, and drop them: if several
/// passes over vectors that a thread holds need the same values, which take many instructions, or
/// if warps would branch both ways.
[[nodiscard]] bool computes_always(const plan::Plan& plan, const plan::Rows& rows,
                                   const Passes& passes);

/// Instructions for those values of an element that several passes need.
[[nodiscard]] int cost_of_shared_values(const plan::Plan& plan, const Passes& passes);

}  // namespace tilejit::render
