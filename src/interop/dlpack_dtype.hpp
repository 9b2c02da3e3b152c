#pragma once

#include "interop/dlpack_abi.hpp"
#include "tilejit/dtype.hpp"

namespace tilejit::interop {

/// Throws Error{unsupported} that names the type, its lanes, or what bits it has.
[[nodiscard]] DType dtype_of(const DLDataType& type);
/// tf32 is f32 there.
[[nodiscard]] DLDataType dlpack_type(DType dtype) noexcept;

}  // namespace tilejit::interop
