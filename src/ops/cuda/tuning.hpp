#pragma once

#include <cstddef>
#include <vector>

#include "cuda/resolve.hpp"
#include "tilejit/target.hpp"

namespace tilejit::cuda {

/// What tilejit::tuning_candidates returns: the kernel as it is, then other values of one constant
/// of `tune`, then of two, and so on.
[[nodiscard]] std::vector<Tuning> candidates(const Resolved& kernel, const Target& target,
                                             std::size_t budget);

}  // namespace tilejit::cuda
