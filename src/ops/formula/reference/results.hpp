#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference/accumulator.hpp"
#include "reference/schedule.hpp"

namespace tilejit::reference {

/// Whether error bounds are carried beside the values.
enum class WithBounds : std::uint8_t { no, yes };

/// The results of one reduction or scan: an element for each coordinate along the axes that it
/// varies along.
struct Result {
  std::vector<ModeLeaves> modes = {};  ///< one an iteration mode, as of a tensor
  std::vector<double> reals = {};      ///< by the type of the reduction
  std::vector<std::int64_t> integers = {};
  std::vector<double> bounds = {};  ///< empty without bounds
};
/// One a node; empty for what is neither.
using Results = std::vector<Result>;

/// An accumulator for the results of node `id` that has combined nothing yet.
[[nodiscard]] Accumulator fresh(const Problem& problem, expr::NodeId id);
/// Room for the results of node `id`, which vary along `axes`, the last of them fastest.
[[nodiscard]] Result make_result(const Problem& problem, std::span<const int> axes, expr::NodeId id,
                                 WithBounds with_bounds);
void write(Result& result, std::int64_t index, const Reduced& value) noexcept;

/// Does the reductions of a pass, or its scans, on all hardware threads.
void reduce(const Problem& problem, const Pass& pass, Results& results, WithBounds with_bounds);
void scan(const Problem& problem, const Pass& pass, Results& results, WithBounds with_bounds);

/// Goes through the passes of reductions and scans.
[[nodiscard]] Results combine(const Problem& problem, const Schedule& schedule,
                              WithBounds with_bounds);

}  // namespace tilejit::reference
