#pragma once

#include <map>

#include "program/code.hpp"

namespace tilejit::program {

/// The copies to shared memory that loops with stages do ahead, and the loop's stages: those at the
/// loop's own level whose place depends on nothing that the loop makes but its counter, and whose
/// tile nothing else in the loop writes, or reads before them.
[[nodiscard]] std::map<const Load*, int> copies_ahead(const Code& code);

}  // namespace tilejit::program
