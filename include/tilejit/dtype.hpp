#pragma once

#include <cstdint>
#include <string_view>

namespace tilejit {

/// Element types of tensors and scalars. Every element takes whole bytes; `tf32` is stored as f32.
enum class DType : std::uint8_t {
  b8,  ///< "bool": one byte, 0 or 1
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  f16,
  bf16,
  f32,
  f64,
  f8e4m3,  ///< OCP E4M3 ("fn": no infinity, NaN is 0x7f); conversions saturate at 448
  f8e5m2,  ///< OCP E5M2; conversions saturate at 57344
  tf32,    ///< f32 storage, stores round to 10 bits of mantissa
};
using enum DType;

/// All element types, in the order of the enumeration.
inline constexpr DType kAllDTypes[] = {b8,  i8,  i16,  i32, i64, u8,     u16,    u32,
                                       u64, f16, bf16, f32, f64, f8e4m3, f8e5m2, tf32};

/// The kinds that promotion distinguishes: bool < integers < floating.
enum class Category : std::uint8_t { boolean, signed_integer, unsigned_integer, floating };

[[nodiscard]] Category category(DType dtype) noexcept;
[[nodiscard]] bool is_integer(DType dtype) noexcept;   ///< i8..i64, u8..u64; not bool
[[nodiscard]] bool is_floating(DType dtype) noexcept;  ///< f16 bf16 f32 f64 f8e4m3 f8e5m2 tf32

/// Bytes of one element: 1, 2, 4 or 8.
[[nodiscard]] int size_bytes(DType dtype) noexcept;

/// The name used in specs: "bool", "i8", ..., "f8e4m3", "tf32".
[[nodiscard]] std::string_view to_string(DType dtype) noexcept;

/// The inverse of to_string. Throws Error{unsupported} for 128-bit integers and
/// Error{invalid_spec}, which lists the known names, for anything else unknown. `where` is put into
/// the error.
[[nodiscard]] DType parse_dtype(std::string_view text, std::string_view where = {});

}  // namespace tilejit
