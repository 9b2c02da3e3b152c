#include "interop/dlpack_dtype.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "tilejit/error.hpp"

namespace tilejit::interop {
namespace {

struct Row {
  DType dtype;
  std::uint8_t code;
};
constexpr Row kRows[] = {
    {b8, kDlpackBool},   {i8, kDlpackInt},          {i16, kDlpackInt},       {i32, kDlpackInt},
    {i64, kDlpackInt},   {u8, kDlpackUInt},         {u16, kDlpackUInt},      {u32, kDlpackUInt},
    {u64, kDlpackUInt},  {f16, kDlpackFloat},       {bf16, kDlpackBfloat},   {f32, kDlpackFloat},
    {f64, kDlpackFloat}, {f8e4m3, kDlpackF8e4m3fn}, {f8e5m2, kDlpackF8e5m2},
};

std::uint8_t bits_of(DType dtype) noexcept {
  return static_cast<std::uint8_t>(8 * size_bytes(dtype));
}

/// The names of the type codes, as dlpack.h spells them after "kDL".
std::string name_of(const DLDataType& type) {
  constexpr std::array<std::string_view, 18> kNames = {"Int",
                                                       "UInt",
                                                       "Float",
                                                       "OpaqueHandle",
                                                       "Bfloat",
                                                       "Complex",
                                                       "Bool",
                                                       "Float8_e3m4",
                                                       "Float8_e4m3",
                                                       "Float8_e4m3b11fnuz",
                                                       "Float8_e4m3fn",
                                                       "Float8_e4m3fnuz",
                                                       "Float8_e5m2",
                                                       "Float8_e5m2fnuz",
                                                       "Float8_e8m0fnu",
                                                       "Float6_e2m3fn",
                                                       "Float6_e3m2fn",
                                                       "Float4_e2m1fn"};
  if (type.code < kNames.size()) {
    return fmt::format("{} of {} bits", kNames[type.code], type.bits);
  }
  return fmt::format("type code {} of {} bits", type.code, type.bits);
}

}  // namespace

DType dtype_of(const DLDataType& type) {
  if (type.lanes != 1) {
    throw Error(ErrorCode::unsupported,
                fmt::format("the DLPack tensor has elements of {} lanes; give vectors a mode of "
                            "their own",
                            type.lanes));
  }
  const auto found = std::ranges::find_if(kRows, [&](const Row& row) {
    return row.code == type.code && bits_of(row.dtype) == type.bits;
  });
  if (found != std::end(kRows)) return found->dtype;
  throw Error(ErrorCode::unsupported,
              fmt::format("the DLPack tensor has dtype {}; there is bool, i8 to i64, u8 to u64, "
                          "f16, bf16, f32, f64, f8e4m3 (e4m3fn) and f8e5m2: convert it before",
                          name_of(type)));
}

DLDataType dlpack_type(DType dtype) noexcept {
  const DType stored = dtype == tf32 ? f32 : dtype;
  const auto* row = std::ranges::find(kRows, stored, &Row::dtype);
  return {.code = row->code, .bits = bits_of(stored), .lanes = 1};
}

}  // namespace tilejit::interop
