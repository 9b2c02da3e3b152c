#include <charconv>
#include <cmath>
#include <limits>

#include "expr/host_float.hpp"
#include "expr/weak.hpp"

namespace tilejit::expr {
namespace {

struct Range {
  WideInt least;
  WideInt most;
};

Range range_of(DType type) noexcept {
  const int bits = 8 * size_bytes(type);
  if (category(type) == Category::unsigned_integer) return {0, (WideInt{1} << bits) - 1};
  return {-(WideInt{1} << (bits - 1)), (WideInt{1} << (bits - 1)) - 1};
}

bool fits(WideInt value, DType type) noexcept {
  const Range range = range_of(type);
  return range.least <= value && value <= range.most;
}

// The low bits of `value` as a value of `type`, in the representation of Constant.
std::int64_t wrap(WideInt value, DType type) noexcept {
  const int unused = 64 - 8 * size_bytes(type);
  const auto high = static_cast<std::uint64_t>(value) << unused;
  if (category(type) == Category::unsigned_integer)
    return static_cast<std::int64_t>(high >> unused);
  return static_cast<std::int64_t>(high) >> unused;
}

// Truncates, and saturates at the type's width; narrow types saturate at 32 bits and then wrap.
std::int64_t truncate(double value, DType type) noexcept {
  if (std::isnan(value)) return 0;
  const Range range = range_of(size_bytes(type) >= 4 ? type : i32);
  if (value <= static_cast<double>(range.least)) return wrap(range.least, type);
  if (value >= static_cast<double>(range.most)) return wrap(range.most, type);
  return wrap(static_cast<WideInt>(value), type);
}

WideInt to_integer(const Weak& value) noexcept {
  const auto* integer = std::get_if<WideInt>(&value);
  return integer != nullptr ? *integer : WideInt{std::get<bool>(value)};
}

// Rounds once. An integer of more than 53 bits is first rounded to odd as a double, so that the
// second rounding, to at most 24 bits, still knows on which side of a tie it is.
double round_integer(WideInt value, DType type) noexcept {
  if (type == f64) return static_cast<double>(value);
  WideInt magnitude = value < 0 ? -value : value;
  if (magnitude >> 53 != 0) {
    const bool inexact = (magnitude & 0xFFF) != 0;
    magnitude = ((magnitude >> 12) | WideInt{inexact}) << 12;
  }
  return round_to(type, static_cast<double>(value < 0 ? -magnitude : magnitude));
}

double round_weak(const Weak& value, DType type) noexcept {
  const auto* floating = std::get_if<double>(&value);
  return floating != nullptr ? round_to(type, *floating) : round_integer(to_integer(value), type);
}

}  // namespace

bool is_true(const Weak& value) noexcept {
  return to_double(value) != 0;
}

double to_double(const Weak& value) noexcept {
  return std::visit([](auto x) { return static_cast<double>(x); }, value);
}

std::string to_string(const Weak& value) {
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  if (const auto* integer = std::get_if<WideInt>(&value)) {
    return *integer < 0 ? std::to_string(static_cast<std::int64_t>(*integer))
                        : std::to_string(static_cast<std::uint64_t>(*integer));
  }
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, std::get<double>(value)).ptr};
}

std::optional<WideInt> parse_integer(std::string_view digits) noexcept {
  const bool hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
  if (hexadecimal) digits.remove_prefix(2);
  std::uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [parsed, error] = std::from_chars(digits.data(), end, value, hexadecimal ? 16 : 10);
  if (error != std::errc{} || parsed != end) return std::nullopt;
  return value;
}

Constant cast_weak(const Weak& value, DType type) noexcept {
  if (type == b8) return std::int64_t{is_true(value)};
  if (is_floating(type)) return round_weak(value, type);
  const auto* floating = std::get_if<double>(&value);
  return floating != nullptr ? truncate(*floating, type) : wrap(to_integer(value), type);
}

Constant operand_constant(const Weak& value, DType type, std::string_view remedy) {
  if (is_floating(type)) return round_weak(value, type == f64 ? f64 : f32);
  const WideInt integer = to_integer(value);
  if (type != b8 && !fits(integer, type)) {
    const Range range = range_of(type);
    const std::string name(to_string(type));
    throw Fault{to_string(value) + " does not fit " + name + " (" + to_string(range.least) +
                " to " + to_string(range.most) + "): " + std::string(remedy) + ", or write " +
                name + "(" + to_string(value) + ") to wrap"};
  }
  return static_cast<std::int64_t>(integer);
}

DType default_type(const Weak& value) noexcept {
  if (std::holds_alternative<bool>(value)) return b8;
  const auto* integer = std::get_if<WideInt>(&value);
  if (integer == nullptr) return f32;
  return fits(*integer, i32) ? i32 : fits(*integer, i64) ? i64 : u64;
}

}  // namespace tilejit::expr
