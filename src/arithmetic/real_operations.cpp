#include <cmath>

#include "arithmetic/operations.hpp"
#include "expr/host_float.hpp"
#include "expr/real_function.hpp"

namespace tilejit::arithmetic {
namespace {

using expr::Op;

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
    case Op::floor_div: return expr::floor_div(a, b);
    case Op::mod: return expr::floor_mod(a, b);
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
