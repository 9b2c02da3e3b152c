#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "launch/binder.hpp"

namespace tilejit::launch {

/// A Binder for launches of known sizes with usual arguments: aligned bare pointers to memory that
/// does not overlap, and scalars that fit. Its data lies in a few adjacent cache lines and its code
/// is short, since each driver call evicts both from the caches. All other launches are left to the
/// Binder. A value.
class PlainBinder {
 public:
  /// Nothing for operations that have several kernels, workspaces, symbols, no elements, too many
  /// arguments, or more than `most_blocks` blocks.
  [[nodiscard]] static std::optional<PlainBinder> make(const Binder& binder,
                                                       std::uint32_t most_blocks);

  /// The grid that Binder::bind returns for these sizes.
  [[nodiscard]] Grid grid() const noexcept { return grid_; }

  /// Writes the parameters. Returns false if something is unusual or wrong; then a Binder must
  /// look.
  [[nodiscard]] bool bind(std::span<const Argument> args,
                          std::span<std::byte, kMaxParamBytes> buffer) const noexcept;

 private:
  struct Tensor {
    std::uint64_t bytes = 0;     // from first to last
    std::uint32_t low_bits = 0;  // low bits of the address that must be 0
    std::uint16_t offset = 0;    // of the address in the parameters
    bool written = false;
  };
  struct Scalar {
    std::uint16_t offset = 0;
    DType dtype = f32;
  };
  static constexpr std::size_t kMostTensors = 8, kMostScalars = 4, kMostParamBytes = 96;

  [[nodiscard]] bool overlaps(std::span<const Argument> args, std::size_t written) const noexcept;

  Grid grid_;
  std::uint32_t tensor_count_ = 0, scalar_count_ = 0;
  std::array<Tensor, kMostTensors> tensors_;
  std::array<Scalar, kMostScalars> scalars_;
};

}  // namespace tilejit::launch
