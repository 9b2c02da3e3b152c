#pragma once

#include <cstddef>
#include <vector>

#include "tilejit/program.hpp"
#include "tilejit/target.hpp"

namespace tilejit::program {

/// The program's own tuning, and then at most `budget` others: all combinations of the values in
/// its `tune` that can be planned, those that change fewer constants first.
[[nodiscard]] std::vector<Tuning> candidates(const TileProgram& program, const Target& target,
                                             std::size_t budget);

}  // namespace tilejit::program
