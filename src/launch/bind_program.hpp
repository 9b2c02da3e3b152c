#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "launch/tensor_kinds.hpp"

namespace tilejit::launch {

class Binder;

/// A Binder compiled for the launches that are nearly all: of one kernel without workspaces, with
/// arguments as expected. Items of 8 bytes, one after another, say what goes where, so a launch
/// touches few lines of memory; the driver leaves neither data nor code in the caches. Everything
/// unusual or wrong is left to the Binder, which checks all of it and explains. A value; one that
/// was made of nothing binds nothing.
class BindProgram {
 public:
  static constexpr std::size_t kMaxParamBytes = 512;
  using Buffer = std::span<std::byte, kMaxParamBytes>;

  /// For bare pointers to tensors of known sizes. Nothing for operations of several kernels or with
  /// workspaces, with symbols, without elements, with too many arguments, or of more than
  /// `most_blocks` blocks.
  [[nodiscard]] static std::optional<BindProgram> of_known_sizes(const Binder& binder,
                                                                 std::int64_t most_blocks);
  /// For tensors of one kind: those of a kernel of the descriptor that Specializer made of `args`,
  /// with at most `most_blocks` blocks. Nothing for kernels with too many parameters, or units that
  /// are not powers of two.
  [[nodiscard]] static std::optional<BindProgram> of_kind(const Binder& binder,
                                                          std::span<const Argument> args,
                                                          std::int64_t most_blocks);

  /// Of known sizes: writes the parameters and returns how many blocks to launch. 0: a Binder has
  /// to look.
  [[nodiscard]] std::uint32_t bind(std::span<const Argument> args, Buffer buffer) const noexcept;
  /// Of a kind: the same, with the numbers that Specializer has found in `args`, after which it
  /// computes its own.
  [[nodiscard]] std::uint32_t bind(std::span<const Argument> args, TensorSizes& sizes,
                                   Buffer buffer) const noexcept;

 private:
  struct Item {
    std::uint16_t a = 0, b = 0;
    std::uint32_t c = 0;
  };
  /// In the order in which they are gone through; the place of each in items_ is its end. Known
  /// sizes need none of the first five.
  struct Ends {
    std::uint8_t equal = 0;     // numbers a and b are
    std::uint8_t products = 0;  // c times numbers a and b becomes the next number
    std::uint8_t units = 0;     // number a counts in units of 2^c
    std::uint8_t numbers = 0;   // number a goes to byte b of the parameters
    std::uint8_t divisors = 0;  // FastDivisor of number a in units of 2^c to byte b
    std::uint8_t pointers = 0;  // address of argument a, whose bits c are 0, to byte b
    std::uint8_t scalars = 0;   // argument a as dtype c to byte b
    std::uint8_t outputs = 0;   // tensor a may have the address of those whose bits are in c
  };
  class Maker;

  /// Computes sizes and writes what follows from them. The blocks; 0 as bind.
  [[nodiscard]] std::uint32_t write_sizes(TensorSizes& sizes, std::byte* out) const noexcept;
  /// Writes addresses and scalars. `bytes(t)`: from the first byte of tensor t to its last. False:
  /// a Binder has to look.
  template <typename Bytes>
  [[nodiscard]] bool write_arguments(std::span<const Argument> args, const Bytes& bytes,
                                     std::byte* out) const noexcept;

  Ends ends_;
  std::uint16_t tensors_ = 0;
  std::uint16_t arguments_ = 0xFFFF;  // of none
  std::uint16_t computed_ = 0;        // the first number that is
  std::uint32_t log2_units_a_block_ = 0;
  std::uint32_t known_blocks_ = 0;  // of known sizes
  std::int64_t blocks_a_unit_ = 1, most_blocks_ = 0;
  std::array<Item, 56> items_;  // written as far as it is used; after Ends known bytes of tensors
};

}  // namespace tilejit::launch
