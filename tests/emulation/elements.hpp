// Elements of matrices as they lie in memory.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "half.hpp"

namespace emulation {

struct Bf16 {
  std::uint16_t bits;
  operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
};
struct F16 {
  std::uint16_t bits;
  operator float() const { return half_value(bits); }
};
/// Tensor cores ignore what a tf32 lacks of an f32.
struct Tf32 {
  std::uint32_t bits;
  operator float() const { return std::bit_cast<float>(bits & 0xffffe000u); }
  /// Of the f32 at `from`; ties go to even.
  static Tf32 nearest(const void* from) {
    std::uint32_t bits;
    std::memcpy(&bits, from, sizeof bits);
    if ((~bits & 0x7f800000u) == 0) return {bits};  // infinite or nan
    return {(bits + 0xfffu + (bits >> 13 & 1)) & 0xffffe000u};
  }
};

}  // namespace emulation
