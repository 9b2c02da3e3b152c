#pragma once

#include "expr/program.hpp"

namespace tilejit::expr {

/// `program` with sums of sums taken at once: sum(sum(x, axis=2) / n, axis=(0, 1)) becomes
/// sum(x, axis=(0, 1, 2)) / n, if nothing else uses the inner sum, so that one kernel suffices.
/// Sums are not rounded before they are stored, so only the order of additions changes. The inner
/// sum may be multiplied or divided by constants and extents. Throws Fault beyond kMaxNodes.
[[nodiscard]] Program merge_nested_sums(const Program& program);

}  // namespace tilejit::expr
