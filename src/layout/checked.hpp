#pragma once

#include <cstdint>

#include "tilejit/error.hpp"

namespace tilejit::layout {

/// a * b for non-negative numbers. Throws Error{unsupported} beyond 2^63-1.
inline std::int64_t checked_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    throw Error(ErrorCode::unsupported, "the product " + std::to_string(a) + " * " +
                                            std::to_string(b) +
                                            " exceeds 2^63-1; sizes and offsets are 64-bit");
  }
  return product;
}

/// a + b for non-negative numbers. Throws Error{unsupported} beyond 2^63-1.
inline std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) {
    throw Error(ErrorCode::unsupported, "the sum " + std::to_string(a) + " + " + std::to_string(b) +
                                            " exceeds 2^63-1; sizes and offsets are 64-bit");
  }
  return sum;
}

}  // namespace tilejit::layout
