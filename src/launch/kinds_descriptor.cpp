// Makes the descriptor that the kinds of tensors stand for.

#include <algorithm>
#include <map>
#include <string>

#include "launch/tensor_kinds.hpp"

namespace tilejit::launch {
namespace {

using Kinds = TensorKinds;

/// Reads the bytes of each tensor in turn.
class DescriptorReader {
 public:
  DescriptorReader(const Operation& op, std::span<const std::uint8_t> bytes)
      : op_(op), tensors_(op.tensors()), bytes_(bytes), by_value_(take() != 0), alike_at_(at_) {
    for (std::size_t t = 0; t < tensors_.size(); ++t) alike_at_ += 3 + 2 * bytes_[alike_at_ + 2];
  }

  Operation read() {
    for (std::size_t t = 0; t < tensors_.size(); ++t) read_tensor(t);
    std::vector<Symbol> symbols = op_.symbols();
    for (const auto& [name, divisor] : divisors_) {
      if (divisor > 1) symbols.push_back({.name = name, .divisible_by = divisor});
    }
    return op_.with_tensors(std::move(symbols), std::move(tensors_));
  }

 private:
  struct ModeCodes {
    std::uint8_t extent = 1, stride = Kinds::kNoStride, alike = 0;
  };

  std::uint8_t take() noexcept { return bytes_[at_++]; }

  void read_tensor(std::size_t t) {
    Tensor& tensor = tensors_[t];
    const auto given = static_cast<DType>(take());
    if (!(tensor.dtype == tf32 && given == f32)) tensor.dtype = given;
    tensor.align = 1 << take();
    const std::size_t rank = take();
    std::vector<ModeCodes> codes(rank);
    for (ModeCodes& code : codes) {
      code.extent = take();
      code.stride = take();
      if (by_value_) code.alike = bytes_[alike_at_++];
    }
    std::vector<Dim> extents, strides;
    for (std::size_t i = 0; i < rank; ++i) extents.push_back(extent(codes[i], rank - 1 - i));
    for (std::size_t i = 0; i < rank; ++i) strides.push_back(stride(t, codes, extents, i));
    tensor.layout = layout_of(extents, strides);
  }

  Dim extent(const ModeCodes& code, std::size_t from_last) {
    if (code.extent < Kinds::kSymbol) return code.extent;
    return symbol("n" + std::to_string(by_value_ ? code.alike : from_last), code.extent);
  }

  Dim stride(std::size_t t, const std::vector<ModeCodes>& codes, const std::vector<Dim>& extents,
             std::size_t i) {
    const std::uint8_t code = codes[i].stride;
    if (code == Kinds::kNoStride || code == Kinds::kZero) return 0;
    if (code == Kinds::kUnit) return 1;
    if (code >= Kinds::kSymbol)
      return symbol("s" + std::to_string(t) + "_" + std::to_string(i), code);
    const std::size_t with = code - Kinds::kContiguous;
    return extents[with] * stride(t, codes, extents, with);
  }

  Dim symbol(const std::string& name, std::uint8_t code) {
    std::int64_t& divisor = divisors_[name];
    divisor = std::max<std::int64_t>(divisor, std::int64_t{1} << (code - Kinds::kSymbol));
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

  const Operation& op_;
  std::vector<Tensor> tensors_;
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
  bool by_value_;
  std::size_t alike_at_;
  std::map<std::string, std::int64_t> divisors_;
};

}  // namespace

Operation Specializer::descriptor(const TensorKinds& kinds) const {
  return DescriptorReader(operation_, kinds.bytes()).read();
}

}  // namespace tilejit::launch
