#pragma once

#include <optional>
#include <vector>

#include "plan/plan.hpp"

namespace tilejit::plan {

/// One mode of the iteration space: an extent, and each operand's share of it.
struct IterationMode {
  Dim extent = 1;
  std::vector<OperandMode> operands;  ///< one a tensor, leaves innermost first
};

/// The axes `axes` of the iteration space, for all tensors together, first coordinate fastest:
/// top-level modes split where every tensor's nested modes can be split alike (else one mode keeps
/// several leaves), extents of 1 dropped, sorted by the strides of `leader` (without one they stay
/// in the order of the coordinates), merged where that keeps every tensor's index. At least one
/// mode. Throws std::logic_error unless every tensor has each axis whole, or repeats along it.
[[nodiscard]] std::vector<IterationMode> iterate_together(const Fused& op,
                                                          const formula::Analysis& analysis,
                                                          const std::vector<std::size_t>& axes,
                                                          std::optional<std::size_t> leader);

/// The axes `axes` of the iteration space, one mode each, in that order. Throws as above.
[[nodiscard]] std::vector<IterationMode> iterate_by_axis(const Fused& op,
                                                         const formula::Analysis& analysis,
                                                         const std::vector<std::size_t>& axes);

}  // namespace tilejit::plan
