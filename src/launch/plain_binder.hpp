#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "launch/binder.hpp"

namespace tilejit::launch {

/// A Binder for launches of known sizes whose arguments are as usual: bare pointers, aligned, to
/// memory of their own, and scalars that fit. What it reads lies in a few lines of memory behind
/// each other, and its code is short, since the driver leaves neither in the caches. Whatever else
/// comes it leaves to the Binder. A value.
class PlainBinder {
 public:
  /// Nothing for operations of several kernels or with workspaces, with symbols, without elements,
  /// with too many arguments, or of more than `most_blocks` blocks.
  [[nodiscard]] static std::optional<PlainBinder> make(const Binder& binder,
                                                       std::uint32_t most_blocks);

  /// As Binder::bind returns it for these sizes.
  [[nodiscard]] Grid grid() const noexcept { return grid_; }

  /// Writes the parameters. False: a Binder has to look, for something is unusual or wrong.
  [[nodiscard]] bool bind(std::span<const Argument> args,
                          std::span<std::byte, kMaxParamBytes> buffer) const noexcept;

 private:
  struct Tensor {
    std::uint64_t bytes = 0;     // first to last
    std::uint32_t low_bits = 0;  // of an address, that are 0
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
