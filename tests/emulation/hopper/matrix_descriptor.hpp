// Operands of wgmma in shared memory, by the descriptors that name them (PTX ISA, "Matrix
// Descriptor" and "Strides" of wgmma).
#pragma once

#include <cstdint>

#include "../shared_memory.hpp"

namespace emulation {

enum class Major { k, mn };

struct MatrixDescriptor {
  unsigned start, leading, stride;  // bytes
  unsigned row_bytes;               // of the swizzle's pattern; 16 without one

  /// `block` is an address in the block whose memory it is.
  MatrixDescriptor(std::uint64_t bits, unsigned block)
      : start((static_cast<unsigned>(bits & 0x3fff) << 4) + block),
        leading(static_cast<unsigned>(bits >> 16 & 0x3fff) << 4),
        stride(static_cast<unsigned>(bits >> 32 & 0x3fff) << 4) {
    constexpr unsigned kRowBytes[] = {16, 128, 64, 32};
    row_bytes = kRowBytes[bits >> 62];
    if ((bits >> 49 & 7) != 0) fail("a matrix descriptor with a base offset");
  }

  /// The address of element (mn, k), whose neighbours of the same 16 bytes follow it.
  [[nodiscard]] unsigned place(Major major, unsigned mn, unsigned k, unsigned element_bytes) const {
    const unsigned along = (major == Major::k ? k : mn) * element_bytes,
                   across = major == Major::k ? mn : k;
    unsigned at = start + across % 8 * row_bytes + along % row_bytes;
    const unsigned group = across / 8, row = along / row_bytes;
    if (row_bytes == 16) {
      at += major == Major::k ? row * leading + group * stride : row * stride + group * leading;
    } else if (major == Major::k) {
      if (row != 0) fail("an operand of wgmma wider than its swizzle");
      at += group * stride;
    } else {
      at += row * leading + group * stride;
    }
    const unsigned chunks = row_bytes / 16 - 1;
    return at ^ (at >> 7 & chunks) << 4;
  }
};

}  // namespace emulation
