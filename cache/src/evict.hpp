#pragma once

#include "tilejit/cache/folder.hpp"
#include "tree.hpp"

namespace tilejit::cache {

/// Removes leftovers, entries that are too old, and, if the rest is more than `bounds.bytes`, the
/// least recently used until at most `low_water` bytes are left. Just before a file is removed it
/// is looked at again: one that was used or replaced meanwhile stays. A reader that has it open
/// reads on. Returns 0 or what a Tree returns; `report` tells what was done until then.
[[nodiscard]] int evict(const Tree& tree, const Bounds& bounds, std::uint64_t low_water,
                        PruneReport& report);

}  // namespace tilejit::cache
