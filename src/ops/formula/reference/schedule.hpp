#pragma once

#include <cstdint>
#include <vector>

#include "reference/problem.hpp"

namespace tilejit::reference {

/// One walk through a part of the iteration space: along some axes, at coordinate 0 of the others.
struct Pass {
  std::vector<int> axes;                      ///< axes of the walk, the last runs fastest
  std::vector<std::int64_t> shape;            ///< their extents; {1} for no axes
  std::int64_t run = 1;                       ///< number of neighbours that are combined
  std::vector<expr::NodeId> nodes;            ///< nodes to evaluate, operands first
  std::vector<expr::NodeId> reductions = {};  ///< to compute; each has size / run results
  std::vector<expr::NodeId> scans = {};       ///< to compute; each has size results
  bool reverse = false;                       ///< the scans begin at the last of their neighbours
  std::vector<expr::Store> stores = {};       ///< stores to do
};
[[nodiscard]] std::int64_t size(const Pass& pass) noexcept;
/// Whether values of `op` are results that passes read: of reductions, scans and products.
[[nodiscard]] bool is_known_before(expr::Op op) noexcept;

/// The passes that evaluate a program, in order. Reductions and scans come before their readers and
/// before all stores, since stores may overwrite inputs.
struct Schedule {
  std::vector<Pass> combinations;  ///< of reductions or of scans
  std::vector<Pass> stores;
  /// By node, the axes along which it may differ, as bits. Empty for a program without reductions
  /// and scans.
  std::vector<std::uint32_t> varying;
};
/// Throws Error{unsupported} for a pass of more than 2^63-1 results.
[[nodiscard]] Schedule make_schedule(const Problem& problem);

/// The elements of `of` in the order of the pass's axes, one for each extent of its shape.
[[nodiscard]] std::vector<ModeLeaves> modes_in_order(const Pass& pass,
                                                     const std::vector<ModeLeaves>& of);

}  // namespace tilejit::reference
