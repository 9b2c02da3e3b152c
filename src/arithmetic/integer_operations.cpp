#include <algorithm>
#include <utility>

#include "arithmetic/convert.hpp"
#include "arithmetic/operations.hpp"
#include "expr/real_function.hpp"

namespace tilejit::arithmetic {
namespace {

using expr::Op;

bool less(DType type, std::int64_t a, std::int64_t b) noexcept {
  return is_signed(type) ? a < b : static_cast<std::uint64_t>(a) < static_cast<std::uint64_t>(b);
}

// Division rounded to minus infinity, and its remainder. Division by zero gives 0 for both.
struct Quotient {
  std::int64_t quotient = 0;
  std::int64_t remainder = 0;
};

Quotient divide(DType type, std::int64_t a, std::int64_t b) noexcept {
  if (b == 0) return {};
  if (!is_signed(type)) {
    const auto ua = static_cast<std::uint64_t>(a);
    const auto ub = static_cast<std::uint64_t>(b);
    return {static_cast<std::int64_t>(ua / ub), static_cast<std::int64_t>(ua % ub)};
  }
  // The quotient of the smallest i64 and -1 does not fit; the negation wraps.
  if (b == -1) return {static_cast<std::int64_t>(-static_cast<std::uint64_t>(a)), 0};
  const bool inexact_negative = a % b != 0 && (a < 0) != (b < 0);
  return {a / b - (inexact_negative ? 1 : 0), a % b + (inexact_negative ? b : 0)};
}

std::uint64_t power(DType type, std::int64_t base, std::int64_t exponent) noexcept {
  if (is_signed(type) && exponent < 0) {
    if (base == 1) return 1;
    return base == -1 ? (exponent % 2 == 0 ? 1 : -std::uint64_t{1}) : 0;
  }
  std::uint64_t result = 1;
  auto square = static_cast<std::uint64_t>(base);
  for (auto rest = static_cast<std::uint64_t>(exponent); rest != 0; rest >>= 1) {
    if ((rest & 1) != 0) result *= square;
    square *= square;
  }
  return result;
}

std::uint64_t shift(Op op, DType type, std::int64_t value, std::int64_t count) noexcept {
  const bool outside = count < 0 || count >= width(type);
  const auto bits = static_cast<std::uint64_t>(value);
  if (op == Op::shl) return outside ? 0 : bits << count;
  if (!is_signed(type)) return outside ? 0 : bits >> count;
  return static_cast<std::uint64_t>(value >> (outside ? 63 : count));
}

std::int64_t clamp(DType type, std::int64_t x, std::int64_t lo, std::int64_t hi) noexcept {
  if (less(type, x, lo)) x = lo;
  return less(type, hi, x) ? hi : x;
}

// The result before wrapping to the type.
std::uint64_t apply_modular(Op op, DType type, const Integers& args) noexcept {
  const auto [a, b, c] = args;
  const auto ua = static_cast<std::uint64_t>(a);
  const auto ub = static_cast<std::uint64_t>(b);
  switch (op) {
    case Op::neg: return -ua;
    case Op::bit_not: return ~ua;
    case Op::logical_not: return a == 0;
    case Op::add: return ua + ub;
    case Op::sub: return ua - ub;
    case Op::mul: return ua * ub;
    case Op::floor_div: return static_cast<std::uint64_t>(divide(type, a, b).quotient);
    case Op::mod: return static_cast<std::uint64_t>(divide(type, a, b).remainder);
    case Op::pow: return power(type, a, b);
    case Op::shl:
    case Op::shr: return shift(op, type, a, b);
    case Op::bit_and:
    case Op::logical_and: return ua & ub;
    case Op::bit_or:
    case Op::logical_or: return ua | ub;
    case Op::bit_xor: return ua ^ ub;
    case Op::min: return less(type, b, a) ? ub : ua;
    case Op::max: return less(type, a, b) ? ub : ua;
    case Op::abs: return less(type, a, 0) ? -ua : ua;
    case Op::relu: return less(type, a, 0) ? 0 : ua;
    case Op::clamp: return static_cast<std::uint64_t>(clamp(type, a, b, c));
    default: return 0;
  }
}

}  // namespace

std::int64_t apply(Op op, DType type, const Integers& args) noexcept {
  return wrap(apply_modular(op, type, args), type);
}

bool compare(Op op, DType type, std::int64_t a, std::int64_t b) noexcept {
  if (type != u64) return expr::compare(op, a, b);
  return expr::compare(op, static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b));
}

}  // namespace tilejit::arithmetic
