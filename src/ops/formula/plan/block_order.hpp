#pragma once

#include <cstddef>
#include <vector>

#include "plan/plan.hpp"

namespace tilejit::plan {

/// Lets the blocks of tiles and boxes follow one another along the mode that has the fewest
/// sectors fetched again: those in which runs of two blocks meet, if caches have lost them by the
/// time that the second block comes. The plan's family and launch are chosen.
void choose_block_order(Plan& plan);

/// The modes in the order in which blocks are counted, fastest first.
[[nodiscard]] std::vector<std::size_t> order_of_blocks(const Plan& plan);

}  // namespace tilejit::plan
