#include <cmath>

#include "arithmetic/operations.hpp"
#include "expr/real_function.hpp"

namespace tilejit::arithmetic {
namespace {

using expr::Op;

// The exact remainder, shifted so that it has the sign of the divisor.
double floored_remainder(double a, double b) noexcept {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

// As Python: computed from the exact remainder, since a/b may round up to a whole number that it is
// below. Roundings leave the quotient within 1/2 of the intended whole number; a tie is one that
// was rounded up.
double floored_quotient(double a, double b) noexcept {
  if (b == 0) return a / b;
  const double r = std::fmod(a, b);
  const double quotient = (a - r) / b - (r != 0 && (r < 0) != (b < 0) ? 1 : 0);
  const double whole = std::floor(quotient);
  return quotient - whole > 0.5 ? whole + 1 : whole;
}

double clamp(double x, double lo, double hi) noexcept {
  return std::isnan(x) ? x : std::fmin(std::fmax(x, lo), hi);
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
    case Op::atan2: return std::atan2(a, b);
    case Op::copysign: return std::copysign(a, b);
    case Op::hypot: return std::hypot(a, b);
    case Op::fma: return std::fma(a, b, c);
    case Op::clamp: return clamp(a, b, c);
    default: return expr::real_function(op, a);
  }
}

bool is_comparison(Op op) noexcept {
  return op >= Op::lt && op <= Op::gt;
}

}  // namespace tilejit::arithmetic
