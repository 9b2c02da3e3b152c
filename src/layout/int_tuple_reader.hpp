#pragma once

#include "layout/reader.hpp"
#include "tilejit/int_tuple.hpp"

namespace tilejit::layout {

/// Reads an int tuple and leaves the cursor after it.
[[nodiscard]] IntTuple read_int_tuple(Reader& reader);

}  // namespace tilejit::layout
