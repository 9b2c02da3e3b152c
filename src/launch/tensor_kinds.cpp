// Decides what is compiled in for tensors given at run time and what stays symbolic, in one pass
// over the arguments. Each launch through a Dispatcher does that.

#include "launch/tensor_kinds.hpp"

#include <algorithm>
#include <string>

#include "operation/descriptor.hpp"
#include "tilejit/error.hpp"

namespace tilejit::launch {
namespace {

using Kinds = TensorKinds;

constexpr int kWideBytes = 16;          // of the widest memory access
constexpr std::size_t kMaxFactors = 8;  // of a stride: the most that Dim multiplies

/// log2 of the largest power of two that divides `value` and is at most `most`, itself a power of
/// two.
std::uint8_t log2_divisor(std::uint64_t value, std::uint64_t most) noexcept {
  return static_cast<std::uint8_t>(std::countr_zero(value | most));
}

struct Modes {
  const std::int64_t* shape;
  const std::int64_t* stride;
  std::size_t rank;
  std::uint64_t wide;  // elements per access of the widest kind

  [[nodiscard]] bool follows(std::size_t i, std::size_t j) const noexcept {
    std::int64_t span = 0;
    return shape[j] > 1 && stride[j] > 0 && !__builtin_mul_overflow(shape[j], stride[j], &span) &&
           span == stride[i];
  }
  /// The mode that mode `i` is contiguous with; `rank` if there is none.
  [[nodiscard]] std::size_t contiguous_with(std::size_t i) const noexcept {
    if (rank > kMaxFactors) return rank;
    if (i + 1 < rank && follows(i, i + 1)) return i + 1;
    for (std::size_t j = 0; j < rank; ++j) {
      if (j != i && follows(i, j)) return j;
    }
    return rank;
  }
};

std::uint8_t extent_code(const Modes& modes, std::size_t i, std::int64_t known) noexcept {
  const std::int64_t extent = modes.shape[i];
  if (extent >= 1 && extent <= known) return static_cast<std::uint8_t>(extent);
  // A divisor only matters along the contiguous mode, where vectors lie.
  if (modes.stride[i] != 1) return Kinds::kSymbol;
  return Kinds::kSymbol + log2_divisor(static_cast<std::uint64_t>(extent), modes.wide);
}

std::uint8_t stride_code(const Modes& modes, std::size_t i) noexcept {
  const std::int64_t stride = modes.stride[i];
  if (modes.shape[i] == 1) return Kinds::kNoStride;
  if (stride == 1) return Kinds::kUnit;
  if (stride == 0) return Kinds::kZero;
  const std::size_t with = modes.contiguous_with(i);
  if (with < modes.rank) return static_cast<std::uint8_t>(Kinds::kContiguous + with);
  return Kinds::kSymbol + log2_divisor(static_cast<std::uint64_t>(stride), modes.wide);
}

/// The codes of a tensor without elements, with the strides of a contiguous tensor.
[[gnu::cold, gnu::noinline]] void code_empty(const Modes& given, std::int64_t known,
                                             std::uint8_t* out) noexcept {
  std::array<std::int64_t, Specializer::kMaxRank> own = {};
  std::int64_t stride = 1;
  for (std::size_t i = given.rank; i-- > 0;) {
    own[i] = stride;
    stride *= std::max<std::int64_t>(1, given.shape[i]);
  }
  const Modes modes{given.shape, own.data(), given.rank, given.wide};
  for (std::size_t i = 0; i < modes.rank; ++i) {
    *out++ = extent_code(modes, i, known);
    *out++ = stride_code(modes, i);
  }
}

/// The places for the codes and numbers of the next tensor.
struct Pass {
  std::uint8_t* out;
  std::int64_t* number;
  std::uint64_t all = 0;

  /// Takes one tensor. Returns its size in bytes.
  std::uint64_t take(const Argument& given, int log2_bytes, std::int64_t known) noexcept {
    const Modes modes{given.shape.data(), given.stride.data(), given.shape.size(),
                      std::uint64_t{kWideBytes} >> log2_bytes};
    *out++ = static_cast<std::uint8_t>(given.dtype);
    const int log2_align = log2_divisor(given.address, kWideBytes);
    *out++ = static_cast<std::uint8_t>(std::max(log2_align, log2_bytes));
    *out++ = static_cast<std::uint8_t>(modes.rank);
    std::uint64_t last = 0;  // index of the last element
    bool empty = false;
    for (std::size_t i = 0; i < modes.rank; ++i) {
      const std::int64_t extent = modes.shape[i];
      const auto steps = static_cast<std::uint64_t>(extent) - 1;
      const auto stride = static_cast<std::uint64_t>(modes.stride[i]);
      all |= steps | stride;
      last += steps * stride;
      empty |= extent == 0;
      *number++ = extent;
      *number++ = modes.stride[i];
      *out++ = extent_code(modes, i, known);
      *out++ = stride_code(modes, i);
    }
    if (empty) [[unlikely]]
      code_empty(modes, known, out - 2 * modes.rank);
    return (last + 1) << log2_bytes;
  }
};

/// For each mode, the number of the first mode with the same extent, counted up to 255.
[[gnu::noinline]] std::uint8_t* code_alike(std::span<const std::int64_t> numbers,
                                           std::uint8_t* out) noexcept {
  for (std::size_t i = 0; i < numbers.size(); i += 2) {
    std::size_t first = 0;
    while (numbers[first] != numbers[i]) first += 2;
    *out++ = static_cast<std::uint8_t>(std::min<std::size_t>(first / 2, 255));
  }
  return out;
}

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::invalid_argument, why);
}

[[noreturn, gnu::cold]] void refuse_modes() {
  throw Error(ErrorCode::unsupported,
              "the tensors of this launch have too many modes to dispatch on; describe them, and "
              "launch through a Kernel");
}

}  // namespace

Specializer::Specializer(Operation operation, std::int64_t known_extent)
    : operation_(std::move(operation)) {
  if (known_extent < 0 || known_extent > kMaxKnownExtent) {
    refuse("known_extent is " + std::to_string(known_extent) + "; take 0 to " +
           std::to_string(kMaxKnownExtent));
  }
  const std::vector<Tensor>& tensors = operation_.tensors();
  shape_.arguments = tensors.size() + operation_.scalars().size();
  shape_.tensors = tensors.size();
  shape_.known_extent = std::max<std::int64_t>(1, known_extent);
  for (const DType dtype : kAllDTypes) {
    const auto bytes = static_cast<std::uint64_t>(size_bytes(dtype));
    shape_.log2_bytes |= std::uint64_t(std::countr_zero(bytes)) << (4 * static_cast<int>(dtype));
  }
  shape_.outputs = operation_.descriptor().outputs();
}

void Specializer::refuse_count(std::size_t given) const {
  refuse("a launch of '" + operation_.name() + "' takes " + std::to_string(shape_.arguments) +
         " arguments (" + std::to_string(shape_.tensors) + " tensors, then " +
         std::to_string(operation_.scalars().size()) + " scalars), not " + std::to_string(given));
}

void Specializer::refuse_tensor(std::size_t t, const Argument& given) const {
  const char* what = given.kind != Argument::Kind::tensor
                         ? "comes without shape and strides; pass them"
                     : given.shape.size() != given.stride.size() ? "has not one stride an extent"
                                                                 : "has more than 32 modes";
  refuse("tensor '" + operation_.tensors()[t].name + "' (argument " + std::to_string(t) + ") " +
         what);
}

void Specializer::classify(std::span<const Argument> args, TensorKinds& kinds,
                           TensorSizes& sizes) const {
  if (args.size() != shape_.arguments) [[unlikely]]
    refuse_count(args.size());
  Pass pass{kinds.bytes_.data() + 1, sizes.numbers.data()};
  *pass.number++ = 1;
  std::size_t room = TensorKinds::kMaxBytes - 16, most_modes = 0;
  for (std::size_t t = 0; t < shape_.tensors; ++t) {
    const Argument& given = args[t];
    const std::size_t rank = given.shape.size();
    if (given.kind != Argument::Kind::tensor || rank != given.stride.size() || rank > kMaxRank)
        [[unlikely]]
      refuse_tensor(t, given);
    if (room < 3 + 3 * rank) [[unlikely]]
      refuse_modes();
    room -= 3 + 3 * rank;
    most_modes = std::max(most_modes, rank);
    const int log2_bytes = shape_.log2_bytes >> (4 * static_cast<int>(given.dtype)) & 15;
    sizes.bytes[t] = pass.take(given, log2_bytes, shape_.known_extent);
  }
  sizes.all = pass.all;
  bool by_value = false;
  for (const std::size_t t : shape_.outputs) by_value |= args[t].shape.size() < most_modes;
  kinds.bytes_[0] = by_value ? 1 : 0;
  if (by_value) pass.out = code_alike({sizes.numbers.data() + 1, pass.number}, pass.out);
  std::memset(pass.out, 0, 8);
  kinds.words_ = static_cast<std::size_t>(pass.out - kinds.bytes_.data() + 7) / 8;
}

}  // namespace tilejit::launch
