#pragma once

#include "figures/figures.hpp"

namespace tilejit::figures {

/// The layout of a chunk of a row. If the scan goes backwards, so does the order of elements.
[[nodiscard]] ThreadValues values_of_chunk(const plan::Plan& plan, const plan::Rows& rows);

}  // namespace tilejit::figures
