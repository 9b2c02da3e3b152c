#pragma once

#include <optional>
#include <vector>

#include "plan/plan.hpp"

namespace tilejit::plan {

/// One mode of the iteration space: its extent, and each operand's share of it.
struct IterationMode {
  Dim extent = 1;
  std::vector<OperandMode> operands;  ///< one per tensor, leaves innermost first
};

/// The axes `axes` of the iteration space as modes that all tensors share, first coordinate
/// fastest. Returns at least one mode.
/// - A top-level mode is split if every tensor's nested modes can be split alike; otherwise it
///   stays one mode with several leaves.
/// - Modes of extent 1 are dropped.
/// - Modes are sorted by the strides of `leader`; without a leader they stay in the order of the
///   coordinates.
/// - Modes are merged if that keeps every tensor's index.
/// Throws std::logic_error unless every tensor has each axis whole, or repeats along it.
[[nodiscard]] std::vector<IterationMode> iterate_together(const Fused& op,
                                                          const formula::Analysis& analysis,
                                                          const std::vector<std::size_t>& axes,
                                                          std::optional<std::size_t> leader);

/// The axes `axes` of the iteration space, one mode each, in that order. Throws as above.
[[nodiscard]] std::vector<IterationMode> iterate_by_axis(const Fused& op,
                                                         const formula::Analysis& analysis,
                                                         const std::vector<std::size_t>& axes);

}  // namespace tilejit::plan
