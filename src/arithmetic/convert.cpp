#include "arithmetic/convert.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "arithmetic/format.hpp"
#include "tilejit/reference.hpp"

namespace tilejit::arithmetic {
namespace {

template <typename T>
T load_as(const void* element) noexcept {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

template <typename T>
void store_as(T value, void* element) noexcept {
  std::memcpy(element, &value, sizeof value);
}

// `value` is whole or infinite, not NaN. T's largest value may not be a double, but the power of
// two above it is.
template <typename T>
T saturate(double value) noexcept {
  using Limits = std::numeric_limits<T>;
  if (value < static_cast<double>(Limits::min())) return Limits::min();
  if (value >= 2.0 * static_cast<double>(Limits::max() / 2 + 1)) return Limits::max();
  return static_cast<T>(value);
}

}  // namespace

int width(DType dtype) noexcept {
  return dtype == b8 ? 1 : 8 * size_bytes(dtype);
}

bool is_signed(DType dtype) noexcept {
  return category(dtype) == Category::signed_integer;
}

std::int64_t wrap(std::uint64_t value, DType dtype) noexcept {
  const int unused = 64 - width(dtype);
  const std::uint64_t high = value << unused;
  return is_signed(dtype) ? static_cast<std::int64_t>(high) >> unused
                          : static_cast<std::int64_t>(high >> unused);
}

std::int64_t real_to_integer(double value, DType dtype) noexcept {
  if (dtype == b8) return value != 0;
  if (std::isnan(value)) return 0;
  const double whole = std::trunc(value);
  switch (dtype) {
    case i64: return saturate<std::int64_t>(whole);
    case u64: return static_cast<std::int64_t>(saturate<std::uint64_t>(whole));
    case u32: return saturate<std::uint32_t>(whole);
    default: return wrap(static_cast<std::uint64_t>(saturate<std::int32_t>(whole)), dtype);
  }
}

double integer_to_real(std::int64_t value, DType dtype) noexcept {
  return dtype == u64 ? static_cast<double>(static_cast<std::uint64_t>(value))
                      : static_cast<double>(value);
}

std::int64_t integer_to_integer(std::int64_t value, DType dtype) noexcept {
  return dtype == b8 ? value != 0 : wrap(static_cast<std::uint64_t>(value), dtype);
}

IntegerRange integer_range(DType dtype) noexcept {
  const double span = std::ldexp(1.0, width(dtype));
  return is_signed(dtype) ? IntegerRange{-span / 2, span / 2 - 1} : IntegerRange{0, span - 1};
}

std::int64_t load_integer(DType dtype, const void* element) noexcept {
  switch (dtype) {
    case b8: return load_as<std::uint8_t>(element) != 0;
    case i8: return load_as<std::int8_t>(element);
    case i16: return load_as<std::int16_t>(element);
    case i32: return load_as<std::int32_t>(element);
    case u8: return load_as<std::uint8_t>(element);
    case u16: return load_as<std::uint16_t>(element);
    case u32: return load_as<std::uint32_t>(element);
    default: return load_as<std::int64_t>(element);
  }
}

void store_integer(DType dtype, std::int64_t value, void* element) noexcept {
  switch (size_bytes(dtype)) {
    case 1: return store_as(static_cast<std::uint8_t>(value), element);
    case 2: return store_as(static_cast<std::uint16_t>(value), element);
    case 4: return store_as(static_cast<std::uint32_t>(value), element);
    default: return store_as(value, element);
  }
}

}  // namespace tilejit::arithmetic

namespace tilejit {

namespace ref = arithmetic;

double decode(DType dtype, const void* element) noexcept {
  switch (dtype) {
    case f64: return ref::load_as<double>(element);
    case f32:
    case tf32: return static_cast<double>(ref::load_as<float>(element));
    case f16: return ref::decode_bits(ref::kF16, ref::load_as<std::uint16_t>(element));
    case bf16: return ref::decode_bits(ref::kBf16, ref::load_as<std::uint16_t>(element));
    case f8e4m3: return ref::decode_bits(ref::kF8e4m3, ref::load_as<std::uint8_t>(element));
    case f8e5m2: return ref::decode_bits(ref::kF8e5m2, ref::load_as<std::uint8_t>(element));
    default: return ref::integer_to_real(ref::load_integer(dtype, element), dtype);
  }
}

void encode(DType dtype, double value, void* element) noexcept {
  switch (dtype) {
    case f64: return ref::store_as(value, element);
    case tf32: return ref::store_as(ref::encode_bits(ref::kTf32, value) << 13, element);
    case f32: return ref::store_as(ref::encode_bits(ref::kF32, value), element);
    case f16:
    case bf16:
      return ref::store_as(
          static_cast<std::uint16_t>(ref::encode_bits(ref::format_of(dtype), value)), element);
    case f8e4m3:
    case f8e5m2:
      return ref::store_as(
          static_cast<std::uint8_t>(ref::encode_bits(ref::format_of(dtype), value)), element);
    default: return ref::store_integer(dtype, ref::real_to_integer(value, dtype), element);
  }
}

}  // namespace tilejit
