#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "plan/iteration.hpp"
#include "plan/plan.hpp"

namespace tilejit::plan {

/// The first modes of the space that are planned as one.
struct MergedModes {
  std::size_t count = 1;  ///< 1: none
  /// The tensor whose order modes follow; none: the order that the planner chooses.
  std::optional<std::size_t> leader = {};
};

/// The modes that tiles had better have as one:
/// - of sheared tiles, those whose rows are whole vectors only together. The outputs, and inputs
///   that lie in their order, go on from one of these modes to the next;
/// - of tiles, those in which a transposed input goes on behind a short line, if the output alone
///   lies in another order.
[[nodiscard]] MergedModes modes_to_merge(const Plan& plan);

/// Makes one mode of the first `count` ones. Operands that do not go on have several leaves in it.
void merge_first(std::vector<IterationMode>& modes, std::size_t count);

/// Whether tiles access all operands by aligned vectors, of 8 bytes or more of the output.
[[nodiscard]] bool has_whole_vectors(const Plan& plan);

}  // namespace tilejit::plan
