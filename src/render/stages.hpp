#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace tilejit::render {

/// In which pass over a row each value of a program is known: reductions of stage s are folded in
/// pass s, from values that earlier stages and the elements give.
struct Stages {
  int count = 0;             ///< passes that fold; 0 without reductions
  std::vector<int> level;    ///< a node: reductions on the longest way to it, itself included
  std::vector<bool> in_row;  ///< a node: may differ between the elements of a row

  /// The reductions that pass `stage` folds.
  [[nodiscard]] std::vector<expr::NodeId> reductions(const expr::Program& program, int stage) const;
};

[[nodiscard]] Stages find_stages(const plan::Plan& plan);

/// The nodes that `roots` need, down to loads, constants and reductions; reductions among the roots
/// are taken for their arguments.
[[nodiscard]] std::vector<bool> needed_for(const expr::Program& program,
                                           const std::vector<expr::NodeId>& roots);

}  // namespace tilejit::render
