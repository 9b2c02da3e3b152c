#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "launch/tensor_kinds.hpp"

namespace tilejit::launch {

class Binder;

/// A Binder compiled for the usual launch: one kernel without workspaces and tensor maps, with
/// usual arguments. It is a list of adjacent 8-byte items that say what goes where, so that a
/// launch touches few cache lines: each driver call evicts data and code from the caches. Anything
/// unusual or wrong is left to the Binder, which checks everything and explains faults. A value; a
/// default-constructed one binds nothing.
class BindProgram {
 public:
  static constexpr std::size_t kMaxParamBytes = 512;
  using Buffer = std::span<std::byte, kMaxParamBytes>;

  /// For bare pointers to tensors of known sizes. Nothing for operations that have several kernels,
  /// workspaces, tensor maps, symbols, no elements, too many arguments, or more than `most_blocks`
  /// blocks.
  [[nodiscard]] static std::optional<BindProgram> of_known_sizes(const Binder& binder,
                                                                 std::int64_t most_blocks);
  /// For tensors of one kind: those of a kernel of the descriptor that Specializer made of `args`,
  /// with at most `most_blocks` blocks. Nothing for kernels with too many parameters or tensor
  /// maps, or with units that are not powers of two.
  [[nodiscard]] static std::optional<BindProgram> of_kind(const Binder& binder,
                                                          std::span<const Argument> args,
                                                          std::int64_t most_blocks);

  /// For known sizes: writes the parameters and returns the number of blocks to launch. 0: a Binder
  /// must look.
  [[nodiscard]] std::uint32_t bind(std::span<const Argument> args, Buffer buffer) const noexcept;
  /// For a kind: the same. `sizes` holds the numbers that Specializer found in `args`; further ones
  /// are computed and appended.
  [[nodiscard]] std::uint32_t bind(std::span<const Argument> args, TensorSizes& sizes,
                                   Buffer buffer) const noexcept;

 private:
  struct Item {
    std::uint16_t a = 0, b = 0;
    std::uint32_t c = 0;
  };
  /// The groups of items_ in order of processing. Each field is the index of the group's end. Known
  /// sizes do not need the first five.
  struct Ends {
    std::uint8_t equal = 0;     // numbers a and b are equal
    std::uint8_t products = 0;  // the next number becomes c times number a times number b
    std::uint8_t units = 0;     // number a counts units of 2^c
    std::uint8_t numbers = 0;   // number a goes to byte b of the parameters
    std::uint8_t divisors = 0;  // FastDivisor of number a in units of 2^c to byte b
    std::uint8_t pointers = 0;  // address of argument a, whose bits c must be 0, goes to byte b
    std::uint8_t scalars = 0;   // argument a as dtype c to byte b
    std::uint8_t outputs = 0;   // tensor a may have the address of those whose bits are in c
  };
  class Maker;

  /// Computes sizes and writes everything that follows from them. Returns the number of blocks, or
  /// 0 as `bind`.
  [[nodiscard]] std::uint32_t write_sizes(TensorSizes& sizes, std::byte* out) const noexcept;
  /// Writes addresses and scalars. `bytes(t)` is the size of tensor t from its first byte to its
  /// last. Returns false if a Binder must look.
  template <typename Bytes>
  [[nodiscard]] bool write_arguments(std::span<const Argument> args, const Bytes& bytes,
                                     std::byte* out) const noexcept;

  Ends ends_;
  Argument::Kind kind_ = Argument::Kind::pointer;  // of every tensor
  std::uint16_t tensors_ = 0;
  std::uint16_t arguments_ = 0xFFFF;  // a number that no launch has
  std::uint16_t computed_ = 0;        // index of the first computed number
  std::uint32_t log2_units_a_block_ = 0;
  std::uint32_t known_blocks_ = 0;  // for known sizes
  std::int64_t blocks_a_unit_ = 1, most_blocks_ = 0;
  // Initialised only as far as it is used. After the groups come the bytes of tensors of known
  // sizes.
  std::array<Item, 56> items_;
};

}  // namespace tilejit::launch
