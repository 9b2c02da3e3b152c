#include "operation/tile_header.hpp"

namespace tilejit::operation {

std::string_view tile_header(DType dtype) noexcept {
  switch (dtype) {
    case b8: return "b8";
    case f16: return "f16";
    case bf16: return "bf16";
    case f8e4m3:
    case f8e5m2: return "f8";
    case tf32: return "tf32";
    default: return "types";
  }
}

}  // namespace tilejit::operation
