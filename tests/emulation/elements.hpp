// Elements of matrices as they lie in memory.
#pragma once

#include <bit>
#include <cstdint>

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
};

}  // namespace emulation
