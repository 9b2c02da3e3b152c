#include "tilejit/number.hpp"

#include <charconv>
#include <cmath>
#include <limits>

#include "core/scalar_value.hpp"
#include "tilejit/error.hpp"

namespace tilejit {
namespace {

bool integer_fits(DType dtype, const Number& value) noexcept {
  if (value.exceeds_i64()) return dtype == u64;
  const std::int64_t integer = value.bits();
  if (dtype == b8) return integer == 0 || integer == 1;
  const int width = 8 * size_bytes(dtype);
  if (category(dtype) == Category::signed_integer) {
    const std::int64_t max = std::numeric_limits<std::int64_t>::max() >> (64 - width);
    return integer >= -max - 1 && integer <= max;
  }
  return integer >= 0 && (width == 64 || integer < std::int64_t{1} << width);
}

}  // namespace

bool fits(DType dtype, const Number& value) noexcept {
  if (!is_floating(dtype)) return value.is_integer() && integer_fits(dtype, value);
  const double real = value.to<double>();
  return dtype == f64 || !std::isfinite(real) ||
         std::fabs(real) <= static_cast<double>(std::numeric_limits<float>::max());
}

std::string to_string(const Number& value) {
  if (value.exceeds_i64()) return std::to_string(static_cast<std::uint64_t>(value.bits()));
  if (value.is_integer()) return std::to_string(value.bits());
  char digits[32];
  std::string text(digits, std::to_chars(digits, digits + sizeof digits, value.to<double>()).ptr);
  const bool whole = text.find_first_not_of("-0123456789") == std::string::npos;
  return whole ? text + ".0" : text;
}

}  // namespace tilejit

namespace tilejit::core {

void refuse_scalar(const std::string& name, DType dtype, const std::string& why) {
  throw Error(ErrorCode::invalid_argument,
              "scalar '" + name + "' of dtype " + std::string(to_string(dtype)) + " " + why,
              "/scalars/" + name);
}

void check_scalar(const std::string& name, DType dtype, const Number& value) {
  if (fits(dtype, value)) return;
  if (is_floating(dtype)) {
    refuse_scalar(name, dtype, "computes in f32, which cannot hold " + to_string(value));
  }
  if (!value.is_integer()) {
    refuse_scalar(name, dtype, "got the floating value " + to_string(value) + "; pass an integer");
  }
  refuse_scalar(name, dtype, "cannot hold " + to_string(value));
}

}  // namespace tilejit::core
