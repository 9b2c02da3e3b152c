#include "expr/real_function.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "expr/host_float.hpp"

namespace tilejit::expr {
namespace {

double sigmoid(double x) noexcept {
  return 1 / (1 + std::exp(-x));
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

}  // namespace

double real_function(Op op, double x) noexcept {
  switch (op) {
    case Op::abs: return std::fabs(x);
    case Op::relu: return x < 0 ? 0 : x;  // NaN stays NaN
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
    case Op::sigmoid: return sigmoid(x);
    case Op::silu: return x / (1 + std::exp(-x));
    case Op::gelu: return gelu(x);
    case Op::gelu_tanh: return gelu_tanh(x);
    default: return std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace tilejit::expr
