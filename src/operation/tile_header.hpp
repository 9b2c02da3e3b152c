#pragma once

#include <string_view>

#include "tilejit/dtype.hpp"

namespace tilejit::operation {

/// The header of the tile library with the storage type of `dtype`, without folder and extension;
/// "types" for those that C++ has.
[[nodiscard]] std::string_view tile_header(DType dtype) noexcept;

}  // namespace tilejit::operation
