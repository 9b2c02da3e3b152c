#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "device/access.hpp"
#include "plan/plan.hpp"

namespace tilejit::plan {

/// Whether rows of an output begin within sectors of 32 bytes, so that blocks which store parts of
/// rows cut sectors, and whether the output is so large that memory completes these, not the L2
/// cache.
[[nodiscard]] bool cuts_sectors(const Plan& plan, const Operand& operand);

/// The elements along mode 0 that a block stores, if it stores parts of rows; else 0.
[[nodiscard]] std::int64_t strip_of(const Plan& plan);

/// Bytes of the sectors that a block accesses, per element of the operand that it has, if it has
/// `block[m]` elements along mode m at a time. The element's own bytes if strides are not known.
[[nodiscard]] double bytes_of_element(const Operand& operand, const std::vector<Dim>& extents,
                                      const std::vector<std::int64_t>& block);

/// Strides and extents, in elements.
using Steps = std::vector<std::pair<std::int64_t, std::int64_t>>;
/// Bytes of the aligned units of memory that runs of neighbours lie in, per element of `bytes`
/// bytes: the steps say how long runs are, and how far apart.
[[nodiscard]] double bytes_in_units(Steps steps, std::int64_t bytes, std::int64_t unit);

/// How often blocks meet within a sector of an output, per element of the space, if each takes
/// `block[m]` elements along mode m. Such sectors are written in parts. Strides are known, and the
/// operand has one leaf a mode. The same of other aligned pieces of memory than sectors.
[[nodiscard]] double meetings_per_element(const Operand& operand, const std::vector<Dim>& extents,
                                          const std::vector<std::int64_t>& block,
                                          std::int64_t piece_bytes = device::kSectorBytes);

/// The same for blocks of `block[m]` coordinates that are side by side in the space, but not in the
/// operand: other blocks may store what lies between these.
[[nodiscard]] double cuts_per_element(const Operand& operand, const std::vector<Dim>& extents,
                                      const std::vector<std::int64_t>& block);

}  // namespace tilejit::plan
