#include <cmath>
#include <numbers>

#include "reference/format.hpp"
#include "reference/operations.hpp"

namespace tilejit::reference {
namespace {

using expr::Op;

// Half to even whatever the rounding mode is: the remainder of a division by 1 is exact.
double round_half_even(double x) noexcept {
  if (!std::isfinite(x)) return x;
  return std::copysign(x - std::remainder(x, 1.0), x);
}

// The exact remainder, moved to the side of the divisor.
double floored_remainder(double a, double b) noexcept {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

// As Python: from the exact remainder, since a/b may round up to a whole number that it is below.
// Roundings leave the quotient within 1/2 of the whole number meant: a tie is one rounded upwards.
double floored_quotient(double a, double b) noexcept {
  if (b == 0) return a / b;
  const double r = std::fmod(a, b);
  const double quotient = (a - r) / b - (r != 0 && (r < 0) != (b < 0) ? 1 : 0);
  const double whole = std::floor(quotient);
  return quotient - whole > 0.5 ? whole + 1 : whole;
}

// 1 + erf(z) loses all digits for negative z; erfc(-z) is the same sum without cancellation.
double gelu(double x) noexcept {
  return 0.5 * x * std::erfc(-x * (std::numbers::sqrt2 / 2));
}

// (1 + tanh(z)) / 2 is the sigmoid of 2z.
double gelu_tanh(double x) noexcept {
  const double z = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return x / (1 + std::exp(-2 * z));
}

double clamp(double x, double lo, double hi) noexcept {
  return std::isnan(x) ? x : std::fmin(std::fmax(x, lo), hi);
}

double apply_function(Op op, double x) noexcept {
  switch (op) {
    case Op::exp: return std::exp(x);
    case Op::exp2: return std::exp2(x);
    case Op::log: return std::log(x);
    case Op::log2: return std::log2(x);
    case Op::sqrt: return std::sqrt(x);
    case Op::rsqrt: return 1 / std::sqrt(x);
    case Op::sin: return std::sin(x);
    case Op::cos: return std::cos(x);
    case Op::tan: return std::tan(x);
    case Op::tanh: return std::tanh(x);
    case Op::erf: return std::erf(x);
    case Op::asin: return std::asin(x);
    case Op::acos: return std::acos(x);
    case Op::atan: return std::atan(x);
    case Op::sinh: return std::sinh(x);
    case Op::cosh: return std::cosh(x);
    case Op::log10: return std::log10(x);
    case Op::log1p: return std::log1p(x);
    case Op::expm1: return std::expm1(x);
    case Op::cbrt: return std::cbrt(x);
    case Op::erfc: return std::erfc(x);
    case Op::trunc: return std::trunc(x);
    case Op::floor: return std::floor(x);
    case Op::ceil: return std::ceil(x);
    case Op::round: return round_half_even(x);
    case Op::sigmoid: return 1 / (1 + std::exp(-x));
    case Op::silu: return x / (1 + std::exp(-x));
    case Op::gelu: return gelu(x);
    case Op::gelu_tanh: return gelu_tanh(x);
    default: return kNan;
  }
}

}  // namespace

double apply(Op op, const Reals& args) noexcept {
  const auto [a, b, c] = args;
  switch (op) {
    case Op::neg: return -a;
    case Op::add: return a + b;
    case Op::sub: return a - b;
    case Op::mul: return a * b;
    case Op::div: return a / b;
    case Op::floor_div: return floored_quotient(a, b);
    case Op::mod: return floored_remainder(a, b);
    case Op::pow: return std::pow(a, b);
    case Op::min: return std::fmin(a, b);
    case Op::max: return std::fmax(a, b);
    case Op::abs: return std::fabs(a);
    case Op::relu: return a < 0 ? 0 : a;
    case Op::atan2: return std::atan2(a, b);
    case Op::copysign: return std::copysign(a, b);
    case Op::hypot: return std::hypot(a, b);
    case Op::fma: return std::fma(a, b, c);
    case Op::clamp: return clamp(a, b, c);
    default: return apply_function(op, a);
  }
}

bool is_comparison(Op op) noexcept {
  return op >= Op::lt && op <= Op::gt;
}

bool compare(Op op, double a, double b) noexcept {
  switch (op) {
    case Op::lt: return a < b;
    case Op::le: return a <= b;
    case Op::eq: return a == b;
    case Op::ne: return a != b;
    case Op::ge: return a >= b;
    default: return a > b;
  }
}

}  // namespace tilejit::reference
