#pragma once

#include <string_view>

#include "tilejit/dtype.hpp"

namespace tilejit::atoms {

/// PTX's name of a type: "s8" for i8, "e4m3" for f8e4m3; that of the library for all others.
[[nodiscard]] constexpr std::string_view ptx_type(DType dtype) noexcept {
  switch (dtype) {
    case i8: return "s8";
    case i32: return "s32";
    case f8e4m3: return "e4m3";
    case f8e5m2: return "e5m2";
    case u8: return "u8";
    case f16: return "f16";
    case bf16: return "bf16";
    case tf32: return "tf32";
    case f64: return "f64";
    default: return "f32";
  }
}

}  // namespace tilejit::atoms
