#pragma once

#include "layout/reader.hpp"
#include "tilejit/swizzle.hpp"

namespace tilejit::layout {

/// Reads a swizzle and leaves the cursor after it.
[[nodiscard]] Swizzle read_swizzle(Reader& reader);

}  // namespace tilejit::layout
