#pragma once

#include "tilejit/cache/folder.hpp"
#include "tree.hpp"

namespace tilejit::cache {

/// Removes leftovers and entries that are too old. If the rest exceeds `bounds.bytes`, also removes
/// the least recently used entries until at most `low_water` bytes are left. Each file is checked
/// again just before its removal: one that was used or replaced meanwhile stays. Readers that have
/// a removed file open can finish. Returns 0 or an error of Tree; `report` tells what was done
/// until then.
[[nodiscard]] int evict(const Tree& tree, const Bounds& bounds, std::uint64_t low_water,
                        PruneReport& report);

}  // namespace tilejit::cache
