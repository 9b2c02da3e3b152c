#pragma once

#include <cstdint>

#include "tilejit/swizzle.hpp"

namespace tilejit {

/// How a block of threads covers a tile, each thread with several values.
struct LayoutTV {
  Layout layout_mn;  ///< from coordinates of the tile to thread + threads * value
  IntTuple tiler;    ///< the tile, one extent per mode
  Layout layout_tv;  ///< from (thread, value) to the column-major index in the tile
  bool operator==(const LayoutTV&) const = default;
};

/// CuTe's make_layout_tv: `thr` says which thread, `val` which of its values is at a coordinate of
/// the tile; the values of a thread lie beside each other. Both are compact. Throws
/// Error{invalid_layout} if they are not, and what raked_product and composition throw. The cost
/// grows with the modes, not with the tile.
[[nodiscard]] LayoutTV make_layout_tv(const Layout& thr, const Layout& val);

/// Passes of one warp over the banks of shared memory.
struct BankConflicts {
  std::int64_t wavefronts = 0;        ///< what the accesses take
  std::int64_t ideal_wavefronts = 0;  ///< what as many accesses take without a conflict
  [[nodiscard]] bool conflict_free() const noexcept { return wavefronts == ideal_wavefronts; }
  bool operator==(const BankConflicts&) const = default;
};

/// What the first warp of `tv`, 32 threads or as many as there are, takes to access all its values
/// in shared memory: thread t reaches shared(tv(t, v)), in elements of a base aligned to 128 bytes,
/// and every access_bytes / element_bytes consecutive values are one access. `tv` has two modes,
/// thread and value.
///
/// The model is that of the CUDA C++ programming guide for compute capability 5.0 and above: 32
/// banks of 4-byte words; a warp is served 32, 16 or 8 threads at a time for accesses of up to 4, 8
/// or 16 bytes; such a group takes as many passes as one bank has different words, the same word
/// serving all threads that ask for it.
///
/// Cost: 32 evaluations of the layouts per value. Throws Error{invalid_argument} unless
/// access_bytes and element_bytes are 1, 2, 4, 8 or 16 and an access holds whole elements;
/// Error{invalid_layout} unless `tv` has two modes, whole accesses of consecutive and aligned
/// elements, and stays inside `shared`; Error{unsupported} for symbols, '?', and beyond 4096 values
/// per thread.
[[nodiscard]] BankConflicts bank_conflicts(const Layout& tv, const ComposedLayout& shared,
                                           int access_bytes, int element_bytes);

}  // namespace tilejit
