#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "interop/tensor_text.hpp"
#include "tilejit/reference.hpp"

namespace tilejit::interop {
namespace {

template <typename Integer>
std::string integer_text(const std::byte* element) {
  Integer value = 0;
  std::memcpy(&value, element, sizeof value);
  return (value < 0 ? "" : " ") + std::to_string(value);
}

std::string floating_text(double value) {
  if (std::isnan(value)) return " nan";
  const double magnitude = std::abs(value);
  // With 6 decimals such a value would be shown as 0 or with more digits than it has information.
  const bool scientific =
      std::isfinite(value) && (magnitude >= 1e9 || (magnitude > 0 && magnitude < 1e-4));
  return scientific ? fmt::format("{: .6e}", value) : fmt::format("{: .6f}", value);
}

}  // namespace

std::string element_text(DType dtype, const std::byte* element) {
  switch (dtype) {
    case b8: return *element == std::byte{0} ? " 0" : " 1";
    case i8: return integer_text<std::int8_t>(element);
    case i16: return integer_text<std::int16_t>(element);
    case i32: return integer_text<std::int32_t>(element);
    case i64: return integer_text<std::int64_t>(element);
    case u8: return integer_text<std::uint8_t>(element);
    case u16: return integer_text<std::uint16_t>(element);
    case u32: return integer_text<std::uint32_t>(element);
    case u64: return integer_text<std::uint64_t>(element);
    default: return floating_text(decode(dtype, element));
  }
}

}  // namespace tilejit::interop
