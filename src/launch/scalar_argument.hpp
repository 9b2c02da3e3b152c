#pragma once

#include <cstddef>
#include <string>

#include "tilejit/kernel.hpp"

namespace tilejit::launch {

/// As store_scalar, but returns false instead of throwing.
[[nodiscard]] bool try_store_scalar(DType dtype, const Argument& argument, std::byte* out) noexcept;

/// Writes the value of `argument` to `out` in the compute type of `dtype` (f16, bf16, f8 and tf32
/// as float), 1 to 8 bytes. Integers are accepted for floating scalars, but not floats for
/// integers. Throws Error{invalid_argument}, which names the scalar, for another kind of argument
/// and for a value that does not fit.
void store_scalar(DType dtype, const Argument& argument, const std::string& name, std::byte* out);

}  // namespace tilejit::launch
