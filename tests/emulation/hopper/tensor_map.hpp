// What a tensor map holds, in place of what the driver encodes. Tests fill it, kernels' texts read
// it.
#pragma once

#include <array>
#include <cstdint>

namespace emulation {

struct alignas(64) TensorMap {
  static constexpr std::size_t kMostModes = 5;
  unsigned char* address = nullptr;
  std::array<std::int64_t, kMostModes> extents = {};  // elements
  std::array<std::int64_t, kMostModes> strides = {};  // bytes
  std::array<std::uint16_t, kMostModes> boxes = {};   // elements
  std::uint8_t modes = 0, element_bytes = 0;
  std::uint8_t swizzle_bytes = 0;  // of a row of the pattern, 32 to 128; 0 for none
  bool to_tf32 = false;            // loads round f32 to tf32
};
static_assert(sizeof(TensorMap) == 128);

}  // namespace emulation
