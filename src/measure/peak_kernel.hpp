#pragma once

#include <cstdint>
#include <string>

#include "tilejit/cuda_kernel.hpp"
#include "tilejit/target.hpp"

namespace tilejit::measure {

/// A kernel, `peak(out)`, that multiplies as fast as a target does: by its widest instruction for
/// operands of these types (wgmma, mma.sync), or by multiply-add, without memory. Its values are
/// random and finite, since idle wires take less power.
struct PeakKernel {
  std::string text = {};  ///< CUDA, which includes headers of the device library
  int threads = 256;      ///< of a block
  int blocks = 1;         ///< on a multiprocessor
  int shared_bytes = 0;   ///< of a block, dynamic
  double flop = 0;        ///< of a block
  DType sums = f32;       ///< the type of `out`, an element of each thread
};
[[nodiscard]] PeakKernel peak_kernel(DType a, DType b, const Target& target);
/// The kernel as an operation of that many blocks.
[[nodiscard]] CudaKernel peak_operation(const PeakKernel& kernel, std::int64_t blocks);

}  // namespace tilejit::measure
