#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tilejit/dim.hpp"
#include "tilejit/dtype.hpp"

namespace tilejit::operation {

/// A tensor map: memory as the tensor memory accelerator of sm_90 and later sees it, from which one
/// instruction moves a box of up to five modes to shared memory, or back (CUDA driver API,
/// cuTensorMapEncodeTiled). The driver encodes it in 128 bytes, a field of a kernel's parameters. A
/// value.
struct TensorMap {
  /// What Param::index counts.
  enum class Base : std::uint8_t { tensor, workspace };
  /// Where shared memory holds the 16-byte chunks of a box's rows, which are at most that wide:
  /// Sw<1,4,3>, Sw<2,4,3> and Sw<3,4,3> of the address in bytes.
  enum class Swizzle : std::uint8_t { none, bytes_32, bytes_64, bytes_128 };
  /// What L2 fetches at least when a box is read.
  enum class Promotion : std::uint8_t { none, bytes_64, bytes_128, bytes_256 };
  /// What a box has where it reaches outside.
  enum class Fill : std::uint8_t { zeros, nan };
  struct Mode {
    Dim extent = 1;  ///< elements; 1 to 2^32 in a launch
    /// Elements; 1 in the first mode, elsewhere in bytes a multiple of 16 below 2^40. Does not
    /// matter if the extent is 1.
    Dim stride = 1;
    int box = 1;   ///< elements that a box spans, 1 to 256
    int step = 1;  ///< moves each step-th of them, 1 to 8; 1 in the first mode
    bool operator==(const Mode&) const = default;
  };
  static constexpr int kBytes = 128, kAlignment = 64;  ///< of the field
  static constexpr std::size_t kMaxRank = 5;
  static constexpr std::int64_t kMaxExtent = std::int64_t{1} << 32;

  Base base = Base::tensor;
  /// Counts extents, strides and boxes. As in CuTe, tf32 is TFLOAT32, and 8-bit floats are bytes.
  DType dtype = f32;
  std::vector<Mode> modes = {};  ///< 1 to 5, the contiguous one first
  Swizzle swizzle = Swizzle::none;
  Promotion promotion = Promotion::bytes_128;
  Fill fill = Fill::zeros;  ///< nan: not for integers and 8-bit floats
  bool operator==(const TensorMap&) const = default;
};

/// Bytes of a row of the swizzle's pattern, 32 to 128; 0 for none.
[[nodiscard]] int swizzle_bytes(TensorMap::Swizzle swizzle) noexcept;

/// Whether `elements` is a stride of a mode after the first.
[[nodiscard]] bool is_stride(std::int64_t elements, int element_bytes) noexcept;

/// Why no launch could encode `map`: "has 6 modes, not 1 to 5"; empty if one can. What
/// depends on symbols and addresses is left to the launch.
[[nodiscard]] std::string fault_of(const TensorMap& map);

/// One line of JSON without spaces, for plans.
[[nodiscard]] std::string to_json(const TensorMap& map);

}  // namespace tilejit::operation
