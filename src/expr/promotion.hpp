#pragma once

#include <optional>

#include "tilejit/dtype.hpp"

namespace tilejit::expr {

/// The type in which operands of types `a` and `b` meet (docs/formulas.md has the table). Returns
/// nothing for pairs that need an explicit cast: signed with unsigned integers, f16 with bf16, and
/// f8e4m3, f8e5m2 or tf32 with any other type.
[[nodiscard]] std::optional<DType> promote(DType a, DType b) noexcept;

/// The type of a product of matrices of types `a` and `b`: f16, bf16, f32 and f64 give themselves,
/// tf32 and the f8 types, which may mix, f32, and i8 and u8, which may mix, i32. Returns nothing
/// for all other pairs.
[[nodiscard]] std::optional<DType> product_type(DType a, DType b) noexcept;

}  // namespace tilejit::expr
