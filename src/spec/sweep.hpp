#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "spec/json_text.hpp"
#include "spec/problems.hpp"

namespace tilejit::spec {

/// Called for each descriptor of a sweep, with the descriptor without its "sweep" member and the
/// values chosen for it, "dtype=f16, N=1024". The choice is empty without a sweep.
using SeeSwept = std::function<void(const Json& descriptor, const std::string& choice)>;

/// Calls `see` for every descriptor that `json` stands for: `json` itself, or, if it has a "sweep",
/// the cross product of its values with the last name varying fastest (docs/spec.md, "Sweeps").
/// Faults of the sweep, or more than `most` descriptors, are added to `problems`, and `see` is not
/// called. Returns the number of calls.
std::size_t each_of_sweep(const Json& json, const std::string& where, std::size_t most,
                          Problems& problems, const SeeSwept& see);

}  // namespace tilejit::spec
