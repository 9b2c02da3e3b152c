#pragma once

#include <cstdint>

#include "tilejit/layout.hpp"

namespace tilejit::layout {

/// layout(i), the coordinates of the layout taken in colexicographic order. As in CuTe, the last
/// leaf takes all that is left, so that a coordinate beyond the size goes on along it. Throws
/// Error{unsupported} for a symbol, '?' or an extent of 0, and beyond 2^63-1.
[[nodiscard]] std::int64_t index_at(const Layout& layout, std::int64_t i);

}  // namespace tilejit::layout
