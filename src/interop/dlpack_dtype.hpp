#pragma once

#include "interop/dlpack_abi.hpp"
#include "tilejit/dtype.hpp"

namespace tilejit::interop {

/// The DType of a DLPack type. Throws Error{unsupported} that names the type, or its lanes or bits.
[[nodiscard]] DType dtype_of(const DLDataType& type);
/// The DLPack type of a DType. DLPack has no tf32; it becomes f32.
[[nodiscard]] DLDataType dlpack_type(DType dtype) noexcept;

}  // namespace tilejit::interop
