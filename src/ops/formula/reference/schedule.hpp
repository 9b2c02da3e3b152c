#pragma once

#include <cstdint>
#include <vector>

#include "reference/problem.hpp"

namespace tilejit::reference {

/// One walk through a part of the iteration space: some of its axes, coordinate 0 along the others.
struct Pass {
  std::vector<int> axes;                      ///< walked, the last runs fastest
  std::vector<std::int64_t> shape;            ///< their extents; {1} for no axes
  std::int64_t run = 1;                       ///< neighbours that are combined
  std::vector<expr::NodeId> nodes;            ///< what is evaluated, operands first
  std::vector<expr::NodeId> reductions = {};  ///< what is combined; each has size / run results
  std::vector<expr::NodeId> scans = {};       ///< what is combined; each has size results
  bool reverse = false;                       ///< the scans begin at the last of their neighbours
  std::vector<expr::Store> stores = {};       ///< what is stored
};
[[nodiscard]] std::int64_t size(const Pass& pass) noexcept;

/// The passes that evaluate a program, in order: a reduction or scan comes before what reads its
/// results, and all of them before the stores, which may overwrite inputs.
struct Schedule {
  std::vector<Pass> combinations;  ///< of reductions or of scans
  std::vector<Pass> stores;
  /// A node: the axes along which it may differ, by bits. Empty for a program without any.
  std::vector<std::uint32_t> varying;
};
/// Throws Error{unsupported} for a pass of more than 2^63-1 results.
[[nodiscard]] Schedule make_schedule(const Problem& problem);

/// `of` in the order of the pass, one for each of its shape.
[[nodiscard]] std::vector<ModeLeaves> modes_in_order(const Pass& pass,
                                                     const std::vector<ModeLeaves>& of);

}  // namespace tilejit::reference
