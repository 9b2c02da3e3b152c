#include "expr/weak.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "expr/host_float.hpp"
#include "expr/real_function.hpp"

namespace tilejit::expr {
namespace {

constexpr WideInt kMin = std::numeric_limits<std::int64_t>::min();
constexpr WideInt kMax = std::numeric_limits<std::uint64_t>::max();

bool is_floating_weak(const Weak& value) {
  return std::holds_alternative<double>(value);
}

WideInt integer_of(const Weak& value) {
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? 1 : 0;
  return std::get<WideInt>(value);
}

Weak checked(WideInt value, bool overflowed = false) {
  if (overflowed || value < kMin || value > kMax) {
    fault("an operation on integer literals exceeds 64 bits: write one of them as a float");
  }
  return value;
}

WideInt floor_quotient(WideInt a, WideInt b) {
  const WideInt quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

Weak power(double base, double exponent) {
  if (base == 0 && exponent < 0) fault("0 has no negative power");
  if (base < 0 && std::isfinite(exponent) && exponent != std::trunc(exponent)) {
    fault("a negative number has no fractional power");
  }
  return std::pow(base, exponent);
}

Weak power(WideInt base, WideInt exponent) {
  if (exponent < 0) return power(static_cast<double>(base), static_cast<double>(exponent));
  if (base == 0 || base == 1) return exponent == 0 ? WideInt{1} : base;
  if (base == -1) return exponent % 2 == 0 ? WideInt{1} : base;
  WideInt result = 1;
  for (; exponent > 0; --exponent) {  // |base| >= 2, so it overflows before the 65th turn
    const bool overflowed = __builtin_mul_overflow(result, base, &result);
    (void)checked(result, overflowed);
  }
  return result;
}

Weak shift(Op op, WideInt value, WideInt count) {
  if (count < 0) fault("a shift count is not negative");
  if (op == Op::shr) return value >> static_cast<int>(std::min<WideInt>(count, 127));
  if (value == 0) return value;
  if (count > 64) return checked(0, true);
  WideInt result = 0;
  const bool overflowed =
      __builtin_mul_overflow(value, WideInt{1} << static_cast<int>(count), &result);
  return checked(result, overflowed);
}

Weak fold_integers(Op op, WideInt a, WideInt b) {
  WideInt result = 0;
  switch (op) {
    case Op::add: return checked(a + b);
    case Op::sub: return checked(a - b);
    case Op::mul: {
      const bool overflowed = __builtin_mul_overflow(a, b, &result);
      return checked(result, overflowed);
    }
    case Op::div: return static_cast<double>(a) / static_cast<double>(b);
    case Op::floor_div: return checked(floor_quotient(a, b));
    case Op::mod: return a - floor_quotient(a, b) * b;
    case Op::pow: return power(a, b);
    case Op::shl:
    case Op::shr: return shift(op, a, b);
    case Op::bit_and: return a & b;
    case Op::bit_or: return a | b;
    default: return checked(a ^ b);
  }
}

Weak fold_floats(Op op, double a, double b) {
  switch (op) {
    case Op::add: return a + b;
    case Op::sub: return a - b;
    case Op::mul: return a * b;
    case Op::div: return a / b;
    case Op::floor_div: return floor_div(a, b);
    case Op::mod: return floor_mod(a, b);
    case Op::pow: return power(a, b);
    default:
      fault("'& | ^ << >>' take integers, not " + to_string(Weak(a)) + " and " +
            to_string(Weak(b)));
  }
}

// Picks one operand. If either is a float, so is the result.
Weak pick(bool first, const Weak& a, const Weak& b) {
  const Weak& picked = first ? a : b;
  if (is_floating_weak(a) || is_floating_weak(b)) return to_double(picked);
  if (a.index() == b.index()) return picked;
  return integer_of(picked);
}

bool is_less(const Weak& a, const Weak& b) {
  return std::get<bool>(fold_binary(Op::lt, a, b));
}

bool is_nan(const Weak& value) {
  return std::isnan(to_double(value));
}

Weak as_number(const Weak& value) {
  return is_floating_weak(value) ? value : Weak(integer_of(value));
}

// If one operand is NaN, the other one wins.
Weak fold_extremum(Op op, const Weak& a, const Weak& b) {
  if (is_nan(a) || is_nan(b)) return pick(is_nan(b), a, b);
  return pick(op == Op::min ? !is_less(b, a) : !is_less(a, b), a, b);
}

Weak fold_clamp(const Weak& x, const Weak& low, const Weak& high) {
  const Weak raised = pick(is_less(x, low), low, x);
  return pick(is_less(high, raised), high, raised);
}

Weak fold_fma(const Weak& a, const Weak& b, const Weak& c) {
  if (is_floating_weak(a) || is_floating_weak(b) || is_floating_weak(c))
    return std::fma(to_double(a), to_double(b), to_double(c));
  return fold_binary(Op::add, fold_binary(Op::mul, a, b), c);
}

}  // namespace

Weak fold_unary(Op op, const Weak& a) {
  if (op == Op::logical_not) return !is_true(a);
  if (const auto* truth = std::get_if<bool>(&a); truth != nullptr && op == Op::bit_not)
    return !*truth;
  if (is_floating_weak(a)) {
    if (op == Op::bit_not) fault("'~' takes an integer, not " + to_string(a));
    return -to_double(a);
  }
  return checked(op == Op::neg ? -integer_of(a) : ~integer_of(a));
}

Weak fold_binary(Op op, const Weak& a, const Weak& b) {
  const bool floating = is_floating_weak(a) || is_floating_weak(b);
  const bool booleans = std::holds_alternative<bool>(a) && std::holds_alternative<bool>(b);
  if (op == Op::logical_and) return is_true(a) && is_true(b);
  if (op == Op::logical_or) return is_true(a) || is_true(b);
  if (op >= Op::lt && op <= Op::gt) {
    return floating ? compare(op, to_double(a), to_double(b))
                    : compare(op, integer_of(a), integer_of(b));
  }
  if ((op == Op::div || op == Op::floor_div || op == Op::mod) && to_double(b) == 0) {
    fault("division of literals by zero: write inf or nan if it is meant");
  }
  if (floating) return fold_floats(op, to_double(a), to_double(b));
  const Weak result = fold_integers(op, integer_of(a), integer_of(b));
  const bool bitwise = op == Op::bit_and || op == Op::bit_or || op == Op::bit_xor;
  return booleans && bitwise ? Weak(is_true(result)) : result;
}

Weak fold_call(Op op, std::span<const Weak> args) {
  switch (op) {
    case Op::where: return pick(is_true(args[0]), args[1], args[2]);
    case Op::pow: return fold_binary(op, args[0], args[1]);
    case Op::min:
    case Op::max: return fold_extremum(op, as_number(args[0]), as_number(args[1]));
    case Op::clamp: return fold_clamp(as_number(args[0]), as_number(args[1]), as_number(args[2]));
    case Op::fma: return fold_fma(args[0], args[1], args[2]);
    case Op::atan2: return std::atan2(to_double(args[0]), to_double(args[1]));
    case Op::copysign: return std::copysign(to_double(args[0]), to_double(args[1]));
    case Op::hypot: return std::hypot(to_double(args[0]), to_double(args[1]));
    case Op::abs:
    case Op::relu:
      if (!is_floating_weak(args[0])) {
        const WideInt x = integer_of(args[0]);
        return checked(x >= 0 ? x : op == Op::abs ? -x : WideInt{0});
      }
      return real_function(op, to_double(args[0]));
    case Op::floor:
    case Op::ceil:
    case Op::round:
    case Op::trunc:
      return is_floating_weak(args[0]) ? Weak(real_function(op, to_double(args[0])))
                                       : as_number(args[0]);
    default: return real_function(op, to_double(args[0]));
  }
}

}  // namespace tilejit::expr
