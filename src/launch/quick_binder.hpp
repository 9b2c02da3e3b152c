#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "launch/tensor_kinds.hpp"

namespace tilejit::launch {

class Binder;

/// A Binder for launches of a known kind, for which most of a Binder's checks cannot fail. It is a
/// list of adjacent 8-byte items that say which number of TensorSizes goes where, so that a launch
/// touches few cache lines. Anything unusual is left to the Binder. A value.
class QuickBinder {
 public:
  static constexpr std::size_t kMaxParamBytes = 512;
  using Buffer = std::span<std::byte, kMaxParamBytes>;

  /// For a kernel of the descriptor that Specializer made of `args`, with at most `most_blocks`
  /// blocks. Nothing for kernels with too many parameters, or with units that are not powers of
  /// two.
  [[nodiscard]] static std::optional<QuickBinder> make(const Binder& binder,
                                                       std::span<const Argument> args,
                                                       std::int64_t most_blocks);

  /// Writes the parameters for `args`, which are of the kernel's kind. `sizes` holds the numbers
  /// that Specializer found; further ones are computed and appended. Returns the number of blocks
  /// to launch. 0 means that something is wrong, empty or large: then a Binder must look.
  [[nodiscard]] std::uint32_t bind(std::span<const Argument> args, TensorSizes& sizes,
                                   Buffer buffer) const noexcept;

 private:
  struct Item {
    std::uint16_t a = 0, b = 0;
    std::uint32_t c = 0;
  };
  /// The groups of items_ in order of processing. Each field is the index of the group's end.
  struct Ends {
    std::uint8_t equal = 0;     // numbers a and b are equal
    std::uint8_t products = 0;  // the next number becomes c times number a times number b
    std::uint8_t units = 0;     // number a counts units of 2^c
    std::uint8_t numbers = 0;   // number a goes to byte b of the parameters
    std::uint8_t divisors = 0;  // FastDivisor of number a in units of 2^c to byte b
    std::uint8_t pointers = 0;  // address of argument a to byte b
    std::uint8_t scalars = 0;   // argument a as dtype c to byte b
    std::uint8_t outputs = 0;   // tensor a may have the address of those whose bits are in c
  };
  class Maker;

  [[nodiscard]] bool overlap(std::span<const Argument> args, const TensorSizes& sizes,
                             const Item& output) const noexcept;

  Ends ends_;
  std::uint16_t tensors_ = 0;
  std::uint16_t computed_ = 0;  // index of the first computed number
  std::uint32_t log2_units_a_block_ = 0;
  std::int64_t blocks_a_unit_ = 1, most_blocks_ = 0;
  std::array<Item, 56> items_;  // initialised only as far as it is used
};

}  // namespace tilejit::launch
