#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tilejit/dtype.hpp"
#include "tilejit/kernel.hpp"
#include "tilejit/layout.hpp"

namespace tilejit {

class Runtime;

/// Where a tensor lies, as CuTe names it.
enum class MemorySpace : std::uint8_t { generic, gmem, smem, rmem, tmem };

struct PrintOptions {
  /// One line per element, with its coordinate; nothing is left out.
  bool verbose = false;
  /// Elements shown at each end of a mode that is longer than twice that; at least 1.
  int edge_items = 3;
  /// What the heading says; empty: generic for host memory, gmem for device memory.
  std::optional<MemorySpace> space = {};
  /// Bytes, as the heading says; 0: the size of an element.
  int align = 0;
};

/// A tensor in host memory as CuTe's print_tensor shows it, ending with a newline:
///
///     tensor(raw_ptr(0x00007ffd1ea2bca0: f32, generic, align<4>) o (2,3):(3,1), data=
///            [[ 0.000000,  1.000000,  2.000000, ],
///             [ 3.000000,  4.000000,  5.000000, ]])
///
/// Each top-level mode is a dimension; if there are more than two, the last one changes slowest. A
/// tensor of rank 0 (1:0) is its element, without brackets. Integers are exact; other values have 6
/// decimals, or an exponent from 1e9 on and below 1e-4. `data` has cosize(layout) elements, of
/// which only the shown ones are read. Pure and thread-safe. Throws Error{unsupported} if the
/// layout has a symbol or '?', Error{invalid_argument} for less than one edge item or for a null
/// pointer to elements.
[[nodiscard]] std::string print_tensor(DType dtype, const Layout& layout, const void* data,
                                       const PrintOptions& options = {});

/// The same for device memory: copies what is shown in the order of `stream`, and waits for it.
/// Thread-safe; not while `stream` is captured. Also throws Error{driver_call}.
[[nodiscard]] std::string print_tensor(const Runtime& runtime, Stream stream, DType dtype,
                                       const Layout& layout, const void* device_data,
                                       const PrintOptions& options = {});

}  // namespace tilejit
