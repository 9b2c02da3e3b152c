#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tilejit/fused.hpp"

namespace tilejit::test {

/// An integer for which a second rounding, or none, would change the float that it becomes.
struct Conversion {
  DType from;
  std::int64_t value;  ///< for u64 its bits
  DType to;
  double want;  ///< rounded once
};

inline constexpr std::int64_t kMostI64 = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t kLeastI64 = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t kMostU64 = -1;
inline constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::int64_t power(int exponent) {
  return static_cast<std::int64_t>(std::uint64_t{1} << exponent);
}

inline constexpr Conversion kConversions[] = {
    {i8, -128, f32, -128},
    {u16, 65535, f32, 65535},
    {i32, 16777217, f32, 16777216},
    {i32, 16777219, f32, 16777220},
    {i32, -16777217, f32, -16777216},
    {i32, 2147483647, f32, 0x1p31},
    {u32, 4294967295, f32, 0x1p32},
    {i64, power(53) + power(29), f32, 0x1p53},  // halfway
    {i64, power(53) + power(29) + 1, f32, 0x1p53 + 0x1p30},
    {i64, -power(53) - power(29) - 1, f32, -0x1p53 - 0x1p30},
    {i64, kMostI64, f32, 0x1p63},
    {i64, kLeastI64, f32, -0x1p63},
    {u64, power(63) + power(39), f32, 0x1p63},
    {u64, power(63) + power(39) + 1, f32, 0x1p63 + 0x1p40},
    {u64, kMostU64, f32, 0x1p64},
    {i64, power(53) + 1, f64, 0x1p53},
    {i64, power(53) + 3, f64, 0x1p53 + 4},
    {i64, -power(53) - 1, f64, -0x1p53},
    {i64, kMostI64, f64, 0x1p63},
    {u64, power(63) + power(10), f64, 0x1p63},
    {u64, power(63) + power(10) + 1, f64, 0x1p63 + 0x1p11},
    {u64, kMostU64, f64, 0x1p64},
    {i16, 257, bf16, 256},
    {u16, 259, bf16, 260},
    {i32, power(24) + power(16), bf16, 0x1p24},
    {i32, power(24) + power(16) + 1, bf16, 0x1p24 + 0x1p17},  // f32 loses the 1
    {u32, 0xffffffff, bf16, 0x1p32},
    {i64, power(40) + power(32), bf16, 0x1p40},
    {i64, power(40) + power(32) + 1, bf16, 0x1p40 + 0x1p33},
    {i64, -power(40) - power(32) - 1, bf16, -0x1p40 - 0x1p33},
    {i64, power(53) + power(45), bf16, 0x1p53},
    {i64, power(53) + power(45) + 1, bf16, 0x1p53 + 0x1p46},  // f64 loses the 1
    {i64, power(53) + 3 * power(45), bf16, 0x1p53 + 0x1p47},
    {i64, power(53) + 3 * power(45) - 1, bf16, 0x1p53 + 0x1p46},
    {i64, kMostI64, bf16, 0x1p63},
    {i64, kLeastI64, bf16, -0x1p63},
    {u64, power(63) + power(55) + 1, bf16, 0x1p63 + 0x1p56},
    {u64, kMostU64, bf16, 0x1p64},
    {i32, 2049, tf32, 2050},  // ties go away from zero
    {i32, -2049, tf32, -2050},
    {i32, power(30) + power(19) - 1, tf32, 0x1p30},
    {i64, power(53) + power(42), tf32, 0x1p53 + 0x1p43},
    {i64, power(53) + power(42) - 1, tf32, 0x1p53},  // f32 and f64 lose that it is below the tie
    {u64, kMostU64, tf32, 0x1p64},
    {i16, 2049, f16, 2048},
    {i32, 2051, f16, 2052},
    {i32, 65519, f16, 65504},
    {i32, 65520, f16, kInfinite},
    {i64, -65520, f16, -kInfinite},
    {u16, 65535, f16, kInfinite},
    {i64, power(53) + 1, f16, kInfinite},
    {i64, kLeastI64, f16, -kInfinite},
    {u64, kMostU64, f16, kInfinite},
    {i8, 17, f8e4m3, 16},
    {u8, 19, f8e4m3, 20},
    {i32, 463, f8e4m3, 448},
    {i64, 500, f8e4m3, 448},
    {i64, kLeastI64, f8e4m3, -448},
    {u64, kMostU64, f8e4m3, 448},
    {i8, 9, f8e5m2, 8},
    {u8, 11, f8e5m2, 12},
    {u32, 61440, f8e5m2, 57344},
    {i64, power(40), f8e5m2, 57344},
    {i64, kLeastI64, f8e5m2, -57344},
    {u64, kMostU64, f8e5m2, 57344},
};

/// The rows of one pair of dtypes, which a kernel converts together.
inline std::vector<Conversion> conversions(DType from, DType to) {
  std::vector<Conversion> rows;
  for (const Conversion& row : kConversions) {
    if (row.from == from && row.to == to) rows.push_back(row);
  }
  return rows;
}

/// An operation that converts x of `from` to y in the store and to z in a register, and compares x
/// with w, or the cast of x if the two types do not meet.
inline Fused conversion_op(DType from, DType to, std::size_t count) {
  const std::string layout = std::to_string(count) + ":1";
  const std::string cast = std::string(to_string(to)) + "(x)";
  const bool meets_integers = to != tf32 && size_bytes(to) > 1;
  return {
      .name = "convert",
      .tensors = {{.name = "x", .dtype = from, .layout = layout},
                  {.name = "w", .dtype = to, .layout = layout},
                  {.name = "y", .dtype = to, .layout = layout},
                  {.name = "z", .dtype = f64, .layout = layout},
                  {.name = "e", .dtype = b8, .layout = layout}},
      .formula = "y = x\nz = f64(" + cast + ")\ne = " + (meets_integers ? "x" : cast) + " == w"};
}

}  // namespace tilejit::test
