#pragma once

#include "attention/family.hpp"
#include "tilejit/fused.hpp"

namespace tilejit::plan {

/// Chooses the queries of a tile, the keys of a block, warps and blocks in shared memory, for an
/// attention whose columns are known. `plan` has the space and the target.
void choose_warps(const Plan& plan, const Tuning& tuning, AttentionMma& attention);

}  // namespace tilejit::plan
