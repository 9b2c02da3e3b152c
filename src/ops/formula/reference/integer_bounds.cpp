#include <algorithm>
#include <cmath>

#include "arithmetic/convert.hpp"
#include "arithmetic/format.hpp"
#include "reference/bounds.hpp"

namespace tilejit::reference {
namespace {

using expr::Op;

bool is_certain(const Approx& x, bool value) noexcept {
  return x.bound == 0 && (x.value != 0) == value;
}

// One operand alone may decide the result.
double logical_bound(Op op, const Approx& a, const Approx& b) noexcept {
  const bool deciding = op == Op::logical_or || op == Op::bit_or;
  const bool can_decide = op != Op::bit_xor && op != Op::logical_not && op != Op::bit_not;
  return can_decide && (is_certain(a, deciding) || is_certain(b, deciding)) ? 0 : 1;
}

// The bound before wrapping. Other operations scatter, so nothing is known about their results.
double carried(Op op, const Approxes& args) noexcept {
  const auto& [a, b, c] = args;
  switch (op) {
    case Op::neg:
    case Op::abs:
    case Op::relu: return a.bound;
    case Op::add:
    case Op::sub: return a.bound + b.bound;
    case Op::mul:
      return std::fabs(a.value) * b.bound + std::fabs(b.value) * a.bound + a.bound * b.bound;
    case Op::min:
    case Op::max: return std::max(a.bound, b.bound);
    case Op::clamp: return std::max({a.bound, b.bound, c.bound});
    case Op::floor_div:
      return b.bound == 0 && b.value != 0 ? std::floor(a.bound / std::fabs(b.value)) + 1
                                          : kInfinity;
    default: return kInfinity;
  }
}

}  // namespace

double integer_bound(Op op, DType type, double result, const Approxes& args) noexcept {
  if (args[0].bound == 0 && args[1].bound == 0 && args[2].bound == 0) return 0;
  if (type == b8) return logical_bound(op, args[0], args[1]);
  // The second term: beyond 2^53 values are not exact as doubles.
  const double bound = carried(op, args) + 0x1p-50 * std::fabs(result);
  const auto [min, max] = integer_range(type);
  const bool stays = result - bound >= min && result + bound <= max;
  return stays ? bound : kInfinity;
}

double comparison_bound(const Approx& a, const Approx& b) noexcept {
  if (a.bound == 0 && b.bound == 0) return 0;
  if ((std::isnan(a.value) && a.bound == 0) || (std::isnan(b.value) && b.bound == 0)) return 0;
  const double slack = a.bound + b.bound + 0x1p-50 * std::fabs(b.value);
  return std::fabs(a.value - b.value) > slack ? 0 : 1;
}

double where_bound(double condition_bound, const Approx& chosen, const Approx& other) noexcept {
  if (condition_bound == 0) return chosen.bound;
  const double reach = distance(chosen.value, other.value) + other.bound;
  return std::max(chosen.bound, reach);
}

}  // namespace tilejit::reference
