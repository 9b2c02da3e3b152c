// What is compiled in for tensors given at run time, and what stays symbolic.
//
// A tensor: dtype, log2 of its alignment (0..4), rank, then two bytes a mode, or three:
//   extent  its value up to the known extent; else kSymbol + log2 of what divides it
//   stride  kNoStride where the extent is 1; kZero; kUnit; kContiguous + j where it is extent *
//   stride
//           of mode j; else kSymbol + log2 of what divides it
//   same    only where extents are named by their values: the first mode of all with that extent
// Before the tensors there is one byte that says how extents are named: by the axis, counted from
// the last; or by their values, where an output has fewer modes than the space, since it is the
// values that tell which axes it lacks.

#include "runtime/tensor_kinds.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string>

#include "expr/parser.hpp"
#include "tilejit/error.hpp"

namespace tilejit::runtime {
namespace {

enum Code : std::uint8_t { kNoStride = 0, kZero = 1, kUnit = 2, kContiguous = 16, kSymbol = 128 };
constexpr int kWideBytes = 16;          // of the widest access
constexpr std::size_t kMaxFactors = 8;  // of a stride: what Dim multiplies

/// log2 of the largest power of two up to `most` that divides `value`.
std::uint8_t log2_divisor(std::uint64_t value, int most) noexcept {
  return static_cast<std::uint8_t>(std::countr_zero(value | static_cast<std::uint64_t>(most)));
}

/// Shape and strides; of a tensor without elements the strides that a contiguous one would have.
class Modes {
 public:
  explicit Modes(const Argument& given) noexcept : shape_(given.shape), stride_(given.stride) {
    if (std::find(shape_.begin(), shape_.end(), 0) == shape_.end()) return;
    std::int64_t stride = 1;
    for (std::size_t i = shape_.size(); i-- > 0;) {
      own_[i] = stride;
      stride *= std::max<std::int64_t>(1, shape_[i]);
    }
    stride_ = {own_.data(), shape_.size()};
  }
  Modes(const Modes&) = delete;
  Modes& operator=(const Modes&) = delete;

  [[nodiscard]] std::size_t rank() const noexcept { return shape_.size(); }
  [[nodiscard]] std::int64_t extent(std::size_t i) const noexcept { return shape_[i]; }
  [[nodiscard]] std::int64_t stride(std::size_t i) const noexcept { return stride_[i]; }
  /// The mode that mode `i` is contiguous with; `rank()` if there is none.
  [[nodiscard]] std::size_t contiguous_with(std::size_t i) const noexcept {
    if (rank() > kMaxFactors) return rank();
    if (i + 1 < rank() && follows(i, i + 1)) return i + 1;
    for (std::size_t j = 0; j < rank(); ++j) {
      if (j != i && follows(i, j)) return j;
    }
    return rank();
  }

 private:
  [[nodiscard]] bool follows(std::size_t i, std::size_t j) const noexcept {
    std::int64_t span = 0;
    return shape_[j] > 1 && stride_[j] > 0 &&
           !__builtin_mul_overflow(shape_[j], stride_[j], &span) && span == stride_[i];
  }

  std::span<const std::int64_t> shape_;
  std::span<const std::int64_t> stride_;
  std::array<std::int64_t, Specializer::kMaxRank> own_;  // written where it is used
};

std::uint8_t extent_code(const Modes& modes, std::size_t i, std::int64_t known, int wide) noexcept {
  const std::int64_t extent = modes.extent(i);
  if (extent >= 1 && extent <= std::max<std::int64_t>(1, known)) {
    return static_cast<std::uint8_t>(extent);
  }
  // A divisor matters where vectors lie: along the contiguous mode.
  if (modes.stride(i) != 1) return kSymbol;
  return kSymbol + log2_divisor(static_cast<std::uint64_t>(extent), wide);
}

std::uint8_t stride_code(const Modes& modes, std::size_t i, int wide) noexcept {
  if (modes.extent(i) == 1) return kNoStride;
  if (modes.stride(i) == 0) return kZero;
  if (modes.stride(i) == 1) return kUnit;
  const std::size_t with = modes.contiguous_with(i);
  if (with < modes.rank()) return static_cast<std::uint8_t>(kContiguous + with);
  return kSymbol + log2_divisor(static_cast<std::uint64_t>(modes.stride(i)), wide);
}

/// The number of the first mode of all tensors with this extent, counted up to 255.
std::uint8_t first_alike(std::span<const Argument> args, std::int64_t extent) noexcept {
  int number = 0;
  for (const Argument& argument : args) {
    for (const std::int64_t other : argument.shape) {
      if (other == extent) return static_cast<std::uint8_t>(std::min(number, 255));
      ++number;
    }
  }
  return 255;
}

/// Reads the bytes of a descriptor's tensors one after another.
class DescriptorReader {
 public:
  DescriptorReader(Fused op, std::span<const std::uint8_t> bytes)
      : op_(std::move(op)), bytes_(bytes), by_value_(take() != 0) {}

  Fused read() {
    for (std::size_t t = 0; t < op_.tensors.size(); ++t) read_tensor(t);
    for (const auto& [name, divisor] : divisors_) {
      if (divisor > 1) op_.symbols.push_back({.name = name, .divisible_by = divisor});
    }
    return std::move(op_);
  }

 private:
  struct ModeCodes {
    std::uint8_t extent = 1, stride = kNoStride, same = 0;
  };

  std::uint8_t take() noexcept { return bytes_[at_++]; }

  void read_tensor(std::size_t t) {
    Tensor& tensor = op_.tensors[t];
    const auto given = static_cast<DType>(take());
    if (!(tensor.dtype == tf32 && given == f32)) tensor.dtype = given;
    tensor.align = 1 << take();
    const std::size_t rank = take();
    std::vector<ModeCodes> codes(rank);
    for (ModeCodes& code : codes) {
      code.extent = take();
      code.stride = take();
      if (by_value_) code.same = take();
    }
    std::vector<Dim> extents, strides;
    for (std::size_t i = 0; i < rank; ++i) extents.push_back(extent(codes[i], rank - 1 - i));
    for (std::size_t i = 0; i < rank; ++i) strides.push_back(stride(t, codes, extents, i));
    tensor.layout = layout_of(extents, strides);
  }

  Dim extent(const ModeCodes& code, std::size_t from_last) {
    if (code.extent < kSymbol) return code.extent;
    return symbol("n" + std::to_string(by_value_ ? code.same : from_last), code.extent);
  }

  Dim stride(std::size_t t, const std::vector<ModeCodes>& codes, const std::vector<Dim>& extents,
             std::size_t i) {
    const std::uint8_t code = codes[i].stride;
    if (code == kNoStride || code == kZero) return 0;
    if (code == kUnit) return 1;
    if (code >= kSymbol) return symbol("s" + std::to_string(t) + "_" + std::to_string(i), code);
    const std::size_t with = code - kContiguous;
    return extents[with] * stride(t, codes, extents, with);
  }

  Dim symbol(const std::string& name, std::uint8_t code) {
    std::int64_t& divisor = divisors_[name];
    divisor = std::max<std::int64_t>(divisor, std::int64_t{1} << (code - kSymbol));
    return {name};
  }

  static Layout layout_of(const std::vector<Dim>& extents, const std::vector<Dim>& strides) {
    if (extents.empty()) return parse_layout("1:0");
    std::string shape, stride;
    for (std::size_t i = 0; i < extents.size(); ++i) {
      shape += (i > 0 ? "," : "") + to_string(extents[i]);
      stride += (i > 0 ? "," : "") + to_string(strides[i]);
    }
    return parse_layout("(" + shape + "):(" + stride + ")");
  }

  Fused op_;
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
  bool by_value_;
  std::map<std::string, std::int64_t> divisors_;
};

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::invalid_argument, why);
}

}  // namespace

std::uint64_t TensorKinds::hash() const noexcept {
  std::uint64_t hash = 0x9E3779B97F4A7C15u ^ size_;
  std::size_t i = 0;
  for (; i + 8 <= size_; i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes_.data() + i, 8);
    hash = std::rotl(hash ^ word, 29) * 0xBF58476D1CE4E5B9u;
  }
  std::uint64_t rest = 0;
  std::memcpy(&rest, bytes_.data() + i, size_ - i);
  hash = std::rotl(hash ^ rest, 29) * 0x94D049BB133111EBu;
  return hash ^ (hash >> 32);
}

Specializer::Specializer(Fused operation, std::int64_t known_extent)
    : operation_(std::move(operation)), known_extent_(known_extent) {
  if (known_extent < 0 || known_extent > kMaxKnownExtent) {
    refuse("known_extent is " + std::to_string(known_extent) + "; take 0 to " +
           std::to_string(kMaxKnownExtent));
  }
  const expr::ParsedText parsed =
      expr::parse_statements({operation_.formula, "formula", "/formula"});
  for (const Tensor& tensor : operation_.tensors) {
    const bool written = std::ranges::any_of(
        parsed.statements, [&](const expr::Statement& one) { return one.name == tensor.name; });
    only_written_.push_back(written && tensor.access != Access::inout);
  }
}

void Specializer::check(std::span<const Argument> args) const {
  const std::size_t tensors = operation_.tensors.size();
  if (args.size() != tensors + operation_.scalars.size()) {
    refuse("a launch of '" + operation_.name + "' takes " +
           std::to_string(tensors + operation_.scalars.size()) + " arguments (" +
           std::to_string(tensors) + " tensors, then " + std::to_string(operation_.scalars.size()) +
           " scalars), not " + std::to_string(args.size()));
  }
  for (std::size_t t = 0; t < tensors; ++t) {
    const std::string_view what =
        args[t].kind != Argument::Kind::tensor ? "comes without shape and strides; pass them"
        : args[t].shape.size() != args[t].stride.size() ? "has not one stride an extent"
        : args[t].shape.size() > kMaxRank               ? "has more than 32 modes"
                                                        : "";
    if (!what.empty()) {
      refuse("tensor '" + operation_.tensors[t].name + "' (argument " + std::to_string(t) + ") " +
             std::string(what));
    }
  }
}

bool Specializer::names_by_value(std::span<const Argument> args) const noexcept {
  std::size_t rank = 0;
  for (std::size_t t = 0; t < only_written_.size(); ++t)
    rank = std::max(rank, args[t].shape.size());
  for (std::size_t t = 0; t < only_written_.size(); ++t) {
    if (only_written_[t] && args[t].shape.size() < rank) return true;
  }
  return false;
}

void Specializer::classify(std::span<const Argument> args, TensorKinds& kinds) const {
  check(args);
  const std::span<const Argument> tensors = args.first(only_written_.size());
  const bool by_value = names_by_value(args);
  kinds.add(by_value ? 1 : 0);
  for (const Argument& tensor : tensors) {
    const int element = size_bytes(tensor.dtype);
    const int wide = kWideBytes / element;
    const Modes modes(tensor);
    kinds.add(static_cast<std::uint8_t>(tensor.dtype));
    kinds.add(std::max(log2_divisor(tensor.address, kWideBytes),
                       log2_divisor(static_cast<std::uint64_t>(element), kWideBytes)));
    kinds.add(static_cast<std::uint8_t>(modes.rank()));
    for (std::size_t i = 0; i < modes.rank(); ++i) {
      kinds.add(extent_code(modes, i, known_extent_, wide));
      kinds.add(stride_code(modes, i, wide));
      if (by_value) kinds.add(first_alike(tensors, modes.extent(i)));
    }
  }
  if (kinds.fits()) [[likely]]
    return;
  throw Error(ErrorCode::unsupported,
              "the tensors of this launch have too many modes to dispatch on; describe them, and "
              "launch through a Kernel");
}

Fused Specializer::descriptor(const TensorKinds& kinds) const {
  return DescriptorReader(operation_, kinds.bytes()).read();
}

}  // namespace tilejit::runtime
