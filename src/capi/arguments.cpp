#include "capi/arguments.hpp"

#include <string>

#include "capi/guard.hpp"
#include "interop/strides.hpp"

namespace tilejit::capi {
namespace {

static_assert(static_cast<int>(DType::b8) == TJ_BOOL && static_cast<int>(DType::i8) == TJ_I8 &&
              static_cast<int>(DType::u8) == TJ_U8 && static_cast<int>(DType::u64) == TJ_U64 &&
              static_cast<int>(DType::f16) == TJ_F16 && static_cast<int>(DType::f32) == TJ_F32 &&
              static_cast<int>(DType::f8e4m3) == TJ_F8E4M3 &&
              static_cast<int>(DType::tf32) == TJ_TF32);

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::invalid_argument, why);
}

/// The i-th element of the caller's array. Its structs may be larger than ours.
const tj_argument& element(const tj_argument* first, std::size_t i) noexcept {
  const char* const begin = reinterpret_cast<const char*>(first);
  return *reinterpret_cast<const tj_argument*>(begin + i * first->struct_size);
}

}  // namespace

DType dtype_of(std::int32_t code) {
  if (code >= TJ_BOOL && code <= TJ_TF32) return static_cast<DType>(code);
  refuse("there is no dtype " + std::to_string(code) + "; use TJ_BOOL to TJ_TF32");
}

Arguments::Arguments(const tj_argument* first, std::size_t count) : count_(count) {
  if (count > 0) (void)required_struct(first, "arguments");
  if (count > few_.size()) {
    many_.resize(count);
    begin_ = many_.data();
  }
  for (std::size_t i = 0; i < count; ++i) {
    const tj_argument& given = element(first, i);
    try {
      if (given.struct_size != first->struct_size) {
        refuse("its struct_size is not the first one's");
      }
      begin_[i] = convert(given);
    } catch (const Error& error) {
      throw Error(error.code(), "argument " + std::to_string(i) + ": " + error.what());
    }
  }
}

Argument Arguments::convert(const tj_argument& given) {
  switch (given.kind) {
    case TJ_POINTER: return {given.data};
    case TJ_TENSOR: return convert_tensor(given);
    case TJ_INTEGER: return {given.integer};
    case TJ_UNSIGNED: return {static_cast<std::uint64_t>(given.integer)};
    case TJ_FLOATING: return {given.floating};
    default:
      refuse("there is no kind " + std::to_string(given.kind) + "; use TJ_POINTER to TJ_FLOATING");
  }
}

Argument Arguments::convert_tensor(const tj_argument& given) {
  const DType dtype = dtype_of(given.dtype);
  if (given.ndim < 0) refuse("ndim is " + std::to_string(given.ndim));
  const auto rank = static_cast<std::size_t>(given.ndim);
  if (rank > 0 && given.shape == nullptr) refuse("shape is NULL");
  const std::span<const std::int64_t> shape(given.shape, rank);
  if (given.strides != nullptr) return {dtype, given.data, shape, {given.strides, rank}};
  const std::span<std::int64_t> strides = take_strides(rank);
  interop::fill_compact_strides(shape, strides);
  return {dtype, given.data, shape, strides};
}

std::span<std::int64_t> Arguments::take_strides(std::size_t count) {
  if (count > few_strides_.size() - strides_taken_) {
    return many_strides_.emplace_back(count);
  }
  strides_taken_ += count;
  return std::span(few_strides_).subspan(strides_taken_ - count, count);
}

const Argument& Arguments::only_tensor() const {
  if (begin_->kind == Argument::Kind::tensor) return *begin_;
  refuse("this takes a tensor with its shape; set the argument's kind to TJ_TENSOR");
}

SymbolValues symbol_values(const tj_symbol* symbols, std::size_t count) {
  SymbolValues values;
  if (count > 0) (void)required(symbols, "symbols");
  for (const tj_symbol& symbol : std::span(symbols, count)) {
    values[required_text(symbol.name, "a symbol's name")] = symbol.value;
  }
  return values;
}

}  // namespace tilejit::capi
