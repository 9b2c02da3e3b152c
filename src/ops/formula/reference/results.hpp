#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference/accumulator.hpp"
#include "reference/schedule.hpp"

namespace tilejit::reference {

/// Whether error bounds are computed besides the values.
enum class WithBounds : std::uint8_t { no, yes };

/// The results of one reduction or scan: one element for each coordinate along the axes on which it
/// varies.
struct Result {
  std::vector<ModeLeaves> modes = {};  ///< one per iteration mode, as for a tensor
  std::vector<double> reals = {};      ///< reals or integers, by the type of the reduction
  std::vector<std::int64_t> integers = {};
  std::vector<double> bounds = {};  ///< empty without bounds
};
/// One per node; empty for nodes that are neither reduction nor scan.
using Results = std::vector<Result>;

/// An empty accumulator for the results of node `id`.
[[nodiscard]] Accumulator fresh(const Problem& problem, expr::NodeId id);
/// Storage for the results of node `id`, which vary along `axes`, the last of them fastest.
[[nodiscard]] Result make_result(const Problem& problem, std::span<const int> axes, expr::NodeId id,
                                 WithBounds with_bounds);
void write(Result& result, std::int64_t index, const Reduced& value) noexcept;

/// Computes the reductions or the scans of a pass on all hardware threads.
void reduce(const Problem& problem, const Pass& pass, Results& results, WithBounds with_bounds);
void scan(const Problem& problem, const Pass& pass, Results& results, WithBounds with_bounds);

/// Runs the passes of reductions and scans.
[[nodiscard]] Results combine(const Problem& problem, const Schedule& schedule,
                              WithBounds with_bounds);

}  // namespace tilejit::reference
