#pragma once

#include <cstdint>

#include "tilejit/dtype.hpp"

namespace tilejit::arithmetic {

/// The value of a cast between floating types. A cast to a narrow type, also one from f64 to f32,
/// rounds once. Other values are unchanged, since f32 is computed in double here.
[[nodiscard]] double cast_real(DType from, DType to, double value) noexcept;
/// The value of a cast of an integer or bool of type `from` to floating type `to`, rounded once as
/// on the device.
[[nodiscard]] double cast_integer(DType from, DType to, std::int64_t value) noexcept;
/// Whether a cast between these floating types, or from an integer type, rounds.
[[nodiscard]] bool cast_rounds(DType from, DType to) noexcept;

}  // namespace tilejit::arithmetic
