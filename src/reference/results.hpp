#pragma once

#include <cstdint>
#include <vector>

#include "reference/schedule.hpp"

namespace tilejit::reference {

/// Whether error bounds are carried beside the values.
enum class WithBounds : std::uint8_t { no, yes };

/// The results of one reduction: an element for each coordinate along the axes that it varies
/// along.
struct Result {
  std::vector<ModeLeaves> modes = {};  ///< one an iteration mode, as of a tensor
  std::vector<double> reals = {};      ///< by the type of the reduction
  std::vector<std::int64_t> integers = {};
  std::vector<double> bounds = {};  ///< empty without bounds
};
/// One a node; empty for what is no reduction.
using Results = std::vector<Result>;

/// Goes through the passes of the reductions, each on all hardware threads.
[[nodiscard]] Results reduce(const Problem& problem, const Schedule& schedule,
                             WithBounds with_bounds);

}  // namespace tilejit::reference
