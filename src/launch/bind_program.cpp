#include "launch/bind_program.hpp"

#include <bit>
#include <cstring>
#include <limits>

#include "launch/overlap.hpp"
#include "launch/scalar_argument.hpp"
#include "operation/fast_divisor.hpp"

namespace tilejit::launch {
namespace {

/// The units in a positive number, rounded up; computed unsigned, as the number may be close to
/// 2^63.
std::int64_t units(std::int64_t number, std::uint32_t log2_unit) noexcept {
  const std::uint64_t up = (std::uint64_t{1} << log2_unit) - 1;
  return static_cast<std::int64_t>((static_cast<std::uint64_t>(number) + up) >> log2_unit);
}

}  // namespace

std::uint32_t BindProgram::write_sizes(TensorSizes& sizes, std::byte* out) const noexcept {
  std::int64_t* const numbers = sizes.numbers.data();
  const Item* item = items_.data();
  const auto until = [&](std::uint8_t end) { return item != items_.data() + end; };

  std::uint64_t differing = 0;
  for (; until(ends_.equal); ++item) {
    differing |= static_cast<std::uint64_t>(numbers[item->a] ^ numbers[item->b]);
  }
  if (differing != 0 || !sizes.are_moderate()) [[unlikely]]
    return 0;

  bool overflow = false;
  std::int64_t* computed = numbers + computed_;
  for (; until(ends_.products); ++item, ++computed) {
    overflow |= __builtin_mul_overflow(numbers[item->a], numbers[item->b], computed);
    overflow |= __builtin_mul_overflow(*computed, std::int64_t{item->c}, computed);
  }
  std::int64_t total = 1;
  for (; until(ends_.units); ++item) {
    overflow |= __builtin_mul_overflow(total, units(numbers[item->a], item->c), &total);
  }
  *computed = total;
  constexpr std::int64_t kNarrow = std::numeric_limits<std::int32_t>::max();
  if (overflow || total > kNarrow) [[unlikely]]
    return 0;
  const std::int64_t blocks = units(total, log2_units_a_block_) * blocks_a_unit_;
  if (blocks > most_blocks_) [[unlikely]]
    return 0;

  for (; until(ends_.numbers); ++item) std::memcpy(out + item->b, numbers + item->a, 8);
  for (; until(ends_.divisors); ++item) {
    const operation::FastDivisor divisor =
        operation::make_divisor(units(numbers[item->a], item->c));
    std::memcpy(out + item->b, &divisor, sizeof divisor);
  }
  return static_cast<std::uint32_t>(blocks);
}

template <typename Bytes>
inline bool BindProgram::write_arguments(std::span<const Argument> args, const Bytes& bytes,
                                         std::byte* out) const noexcept {
  const Item* item = items_.data() + ends_.divisors;
  const auto until = [&](std::uint8_t end) { return item != items_.data() + end; };
  bool unusual = false;
  for (; until(ends_.pointers); ++item) {
    const std::uint64_t address = args[item->a].address;
    unusual |= args[item->a].kind != kind_ || address == 0 || (address & item->c) != 0;
    std::memcpy(out + item->b, &address, 8);
  }
  if (unusual) [[unlikely]]
    return false;
  for (; until(ends_.scalars); ++item) {
    if (!try_store_scalar(static_cast<DType>(item->c), args[item->a], out + item->b)) [[unlikely]]
      return false;
  }
  for (; until(ends_.outputs); ++item) {
    const std::uint64_t begin = args[item->a].address, own = bytes(item->a);
    for (std::size_t t = 0; t < tensors_; ++t) {
      const std::uint64_t other = args[t].address;
      if (are_apart(begin, own, other, bytes(t))) [[likely]]
        continue;
      if (other != begin || (item->c >> t & 1) == 0) return false;
    }
  }
  return true;
}

std::uint32_t BindProgram::bind(std::span<const Argument> args, Buffer buffer) const noexcept {
  if (args.size() != arguments_) [[unlikely]]
    return 0;
  const Item* const known = items_.data() + ends_.outputs;
  const auto bytes = [known](std::size_t t) { return std::bit_cast<std::uint64_t>(known[t]); };
  return write_arguments(args, bytes, buffer.data()) ? known_blocks_ : 0;
}

std::uint32_t BindProgram::bind(std::span<const Argument> args, TensorSizes& sizes,
                                Buffer buffer) const noexcept {
  const std::uint32_t blocks = write_sizes(sizes, buffer.data());
  if (blocks == 0) [[unlikely]]
    return 0;
  const auto bytes = [&sizes](std::size_t t) { return sizes.bytes[t]; };
  return write_arguments(args, bytes, buffer.data()) ? blocks : 0;
}

}  // namespace tilejit::launch
