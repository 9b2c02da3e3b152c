#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "spec/json_text.hpp"
#include "spec/problems.hpp"

namespace tilejit::spec {

/// Told of each descriptor of a sweep: the descriptor without its sweep, and what was chosen for
/// it, "dtype=f16, N=1024"; nothing where there is no sweep.
using SeeSwept = std::function<void(const Json& descriptor, const std::string& choice)>;

/// Calls `see` for every descriptor that `json` stands for: itself, or, where it has a "sweep", the
/// cross product of its values, the last name varying fastest (docs/spec.md, "Sweeps"). Faults of
/// the sweep, and more than `most` descriptors, are added to `problems` and nothing is seen.
/// Returns how many were.
std::size_t each_of_sweep(const Json& json, const std::string& where, std::size_t most,
                          Problems& problems, const SeeSwept& see);

}  // namespace tilejit::spec
