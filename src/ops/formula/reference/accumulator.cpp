#include "reference/accumulator.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "arithmetic/convert.hpp"
#include "arithmetic/format.hpp"
#include "arithmetic/operations.hpp"

namespace tilejit::reference {
namespace {

using expr::Op;

double bound_of(const Values& values, std::size_t i) noexcept {
  return values.bounds.empty() ? 0 : values.bounds[i];
}

// The largest power of two that divides `value`, which is finite and not 0.
double last_bit(double value) noexcept {
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);
  const auto digits = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
  return std::ldexp(1.0, exponent - 53 + std::countr_zero(digits));
}

double smaller_grain(double a, double b) noexcept {
  if (a == 0 || b == 0) return a + b;
  return std::min(a, b);
}

bool is_product(Op op) noexcept {
  return op == Op::reduce_prod || op == Op::scan_prod;
}
bool is_largest(Op op) noexcept {
  return op == Op::reduce_max || op == Op::reduce_argmax || op == Op::scan_max;
}

}  // namespace

double reduction_depth(std::int64_t count) noexcept {
  const auto n = static_cast<double>(count);
  return count < 2 ? n : std::min(n, 256 + 2 * std::ceil(std::log2(n)));
}

double scan_depth(std::int64_t count) noexcept {
  const auto n = static_cast<double>(count);
  return std::min(n, 256 + std::floor(n / 65536));
}

void RealSum::add(const Values& values) noexcept {
  count_ += std::ssize(values.reals);
  for (const double value : values.reals) add(value);
  for (std::size_t i = 0; i < values.bounds.size(); ++i) {
    add_bound(values.reals[i], values.bounds[i]);
  }
}

void RealSum::add(double value) noexcept {
  if (!std::isfinite(value)) {
    special_ += value;
    has_special_ = true;
    return;
  }
  const double sum = sum_ + value;
  compensation_ += std::fabs(sum_) >= std::fabs(value) ? sum_ - sum + value : value - sum + sum_;
  sum_ = sum;
}

void RealSum::add_bound(double value, double bound) noexcept {
  carried_ += bound;
  if (std::isnan(value) && bound == 0) certain_nan_ = true;
  if (!std::isfinite(value)) return;
  magnitude_ += std::fabs(value) + bound;
  if (value != 0) grain_ = smaller_grain(grain_, last_bit(value));
}

void RealSum::merge(const RealSum& later) noexcept {
  count_ += later.count_;
  add(later.sum_);
  compensation_ += later.compensation_;
  special_ += later.special_;
  has_special_ |= later.has_special_;
  certain_nan_ |= later.certain_nan_;
  magnitude_ += later.magnitude_;
  carried_ += later.carried_;
  grain_ = smaller_grain(grain_, later.grain_);
}

Reduced RealSum::result(DType type) const noexcept {
  if (has_special_) return {.real = special_, .bound = bound(type, special_)};
  // Beyond the range of f64 the compensation is infinite as well.
  const double sum = std::isfinite(sum_) ? sum_ + compensation_ : sum_;
  return {.real = sum, .bound = bound(type, sum)};
}

double RealSum::bound(DType type, double sum) const noexcept {
  const Arithmetic& m = arithmetic(type);
  if (certain_nan_) return 0;
  if (std::isinf(carried_)) return kInfinity;
  // If every partial sum has at most as many bits as the type, no sum is rounded, in any order.
  const bool exact = carried_ == 0 && magnitude_ * m.unit <= grain_;
  const double roundings = depth_(count_) + (m.kind == Arithmetic::Kind::f64 ? 2 : 0);
  const double error = exact ? 0 : kSafety * (carried_ + roundings * m.unit * magnitude_);
  // If a partial sum may overflow, the others may not bring it back, or may make it NaN. With
  // values of one sign, partial sums only grow.
  const bool may_overflow = magnitude_ + error >= m.overflow || std::isinf(magnitude_);
  if (has_special_) return may_overflow && !std::isnan(sum) ? kInfinity : 0;
  const bool one_sign = std::fabs(sum) >= magnitude_ * (1 - 0x1p-40) - 2 * carried_;
  return may_overflow && !one_sign ? kInfinity : error;
}

void RealProduct::multiply(double mantissa, std::int64_t exponent) noexcept {
  mantissa_ *= mantissa;
  exponent_ += exponent;
  if (mantissa_ == 0 || !std::isfinite(mantissa_)) return;
  int shift = 0;
  mantissa_ = std::frexp(mantissa_, &shift);
  exponent_ += shift;
}

void RealProduct::add(const Values& values) noexcept {
  count_ += std::ssize(values.reals);
  for (const double value : values.reals) multiply(value, 0);
  for (std::size_t i = 0; i < values.bounds.size(); ++i) {
    add_bound(values.reals[i], values.bounds[i]);
  }
}

void RealProduct::add_bound(double value, double bound) noexcept {
  if (std::isinf(bound)) {
    unknown_ = true;
  } else if (std::isnan(value)) {
    certain_nan_ = true;
  } else if (std::isinf(value)) {
    has_infinity_ = true;
  } else if (value == 0 && bound == 0) {
    certain_zero_ = true;
  } else {
    if (std::fabs(value) <= bound) may_be_zero_ = true;
    // A zero with a bound counts as if its magnitude were the bound.
    const double magnitude = value == 0 ? bound : std::fabs(value);
    const double logarithm = std::log2(magnitude);
    (logarithm > 0 ? up_ : down_) += logarithm;
    growth_ += std::log1p(bound / magnitude);
  }
}

void RealProduct::merge(const RealProduct& later) noexcept {
  count_ += later.count_;
  multiply(later.mantissa_, later.exponent_);
  unknown_ |= later.unknown_;
  certain_nan_ |= later.certain_nan_;
  has_infinity_ |= later.has_infinity_;
  certain_zero_ |= later.certain_zero_;
  may_be_zero_ |= later.may_be_zero_;
  growth_ += later.growth_;
  up_ += later.up_;
  down_ += later.down_;
}

Reduced RealProduct::result(DType type) const noexcept {
  const auto exponent = static_cast<int>(std::clamp<std::int64_t>(exponent_, -5000, 5000));
  const double product = std::ldexp(mantissa_, exponent);
  return {.real = product, .bound = bound(type, product)};
}

double RealProduct::bound(DType type, double product) const noexcept {
  const Arithmetic& m = arithmetic(type);
  if (certain_nan_) return 0;
  if (unknown_) return kInfinity;
  // A partial product may combine any subset of the factors. The logarithms are rounded.
  const double reach = up_ * kSafety + 2 * growth_ + 1;
  const bool may_overflow = reach >= (m.kind == Arithmetic::Kind::f64 ? 1024 : 128);
  const bool may_underflow = down_ * kSafety - 1 <= std::log2(m.min_normal);
  if (has_infinity_) {
    return !certain_zero_ && (may_be_zero_ || may_underflow) ? kInfinity : 0;
  }
  if (may_overflow && (down_ < 0 || certain_zero_ || may_be_zero_)) return kInfinity;
  if (certain_zero_) return 0;
  if (std::isinf(product)) return may_be_zero_ ? kInfinity : 0;
  const double roundings =
      count_ < 2 ? 0 : depth_(count_) * m.unit + static_cast<double>(count_) * 0x1p-53;
  if (growth_ == 0 && roundings == 0) return 0;
  const double size = product == 0 ? std::exp2(up_ + down_) : std::fabs(product);
  // An underflow loses less than a subnormal, but the other factors may enlarge that loss.
  const double lost = may_underflow ? depth_(count_) * m.tiny * std::exp2(reach) : 0;
  const double error = std::expm1(growth_ + roundings) + (product == 0 ? 1 : 0);
  return kSafety * (size * error + lost);
}

void RealExtremum::take(double value) noexcept {
  if (!any_number_ || (largest_ ? value > best_ : value < best_)) best_ = value;
  any_number_ = true;
}

void RealExtremum::add(const Values& values) noexcept {
  any_value_ |= !values.reals.empty();
  for (std::size_t i = 0; i < values.reals.size(); ++i) {
    const double bound = bound_of(values, i);
    bound_ = std::max(bound_, bound);  // a certain NaN has bound 0
    if (!std::isnan(values.reals[i])) take(values.reals[i]);
  }
}

void RealExtremum::merge(const RealExtremum& later) noexcept {
  any_value_ |= later.any_value_;
  bound_ = std::max(bound_, later.bound_);
  if (later.any_number_) take(later.best_);
}

Reduced RealExtremum::result() const noexcept {
  if (any_number_) return {.real = best_, .bound = bound_};
  if (any_value_) return {.real = kNan, .bound = bound_};
  return {.real = largest_ ? -kInfinity : kInfinity};
}

void IntegerTotal::add(const Values& values) noexcept {
  for (std::size_t i = 0; i < values.integers.size(); ++i) {
    const auto value = static_cast<std::uint64_t>(values.integers[i]);
    total_ = product_ ? total_ * value : total_ + value;
    carried_ += bound_of(values, i);
  }
}

void IntegerTotal::merge(const IntegerTotal& later) noexcept {
  total_ = product_ ? total_ * later.total_ : total_ + later.total_;
  carried_ += later.carried_;
}

Reduced IntegerTotal::result(DType type) const noexcept {
  Reduced result{.integer = wrap(total_, type)};
  if (carried_ == 0) return result;
  // Same as for one addition: beyond 2^53 doubles are not exact, and nothing is known about what
  // may wrap.
  const double value = integer_to_real(result.integer, type);
  const double bound = carried_ + 0x1p-50 * std::fabs(value);
  const auto [min, max] = integer_range(type);
  const bool stays = !product_ && value - bound >= min && value + bound <= max;
  result.bound = stays ? bound : kInfinity;
  return result;
}

IntegerExtremum::IntegerExtremum(DType type, bool largest) noexcept
    : type_(type), largest_(largest), best_(0) {
  const std::uint64_t all = ~std::uint64_t{0};
  const std::uint64_t sign = std::uint64_t{1} << (width(type) - 1);
  if (is_signed(type)) {
    best_ = wrap(largest ? sign : sign - 1, type);
  } else {
    best_ = largest ? 0 : wrap(all, type);
  }
}

void IntegerExtremum::take(std::int64_t value) noexcept {
  if (compare(largest_ ? Op::gt : Op::lt, type_, value, best_)) best_ = value;
}

void IntegerExtremum::add(const Values& values) noexcept {
  for (std::size_t i = 0; i < values.integers.size(); ++i) {
    take(values.integers[i]);
    bound_ = std::max(bound_, bound_of(values, i));
  }
}

void IntegerExtremum::merge(const IntegerExtremum& later) noexcept {
  take(later.best_);
  bound_ = std::max(bound_, later.bound_);
}

void Decision::add(const Values& values) noexcept {
  for (std::size_t i = 0; i < values.integers.size(); ++i) {
    const bool decides = (values.integers[i] != 0) == deciding_;
    const bool exact = bound_of(values, i) == 0;
    found_ |= decides;
    certain_ |= decides && exact;
    uncertain_ |= !exact;
  }
}

void Decision::merge(const Decision& later) noexcept {
  found_ |= later.found_;
  certain_ |= later.certain_;
  uncertain_ |= later.uncertain_;
}

Reduced Decision::result() const noexcept {
  return {.integer = found_ == deciding_, .bound = !certain_ && uncertain_ ? 1.0 : 0.0};
}

double BestPlace::score(const Candidate& candidate) const noexcept {
  const double value =
      is_floating(type_) ? candidate.real : integer_to_real(candidate.integer, type_);
  return largest_ ? value : -value;
}

bool BestPlace::beats(const Candidate& a, const Candidate& b) const noexcept {
  if (is_floating(type_)) return score(a) > score(b);
  return compare(largest_ ? Op::gt : Op::lt, type_, a.integer, b.integer);
}

void BestPlace::add_rival(const Candidate& candidate) noexcept {
  double& rival = candidate.bound == 0 ? exact_rival_ : uncertain_rival_;
  rival = std::max(rival, score(candidate) + candidate.bound);
}

void BestPlace::take(const Candidate& candidate) noexcept {
  if (any_ && !beats(candidate, best_)) return add_rival(candidate);
  if (any_) add_rival(best_);
  best_ = candidate;
  any_ = true;
}

void BestPlace::add(const Values& values) noexcept {
  const bool real = is_floating(type_);
  const std::size_t count = real ? values.reals.size() : values.integers.size();
  for (std::size_t i = 0; i < count; ++i) {
    Candidate candidate{.bound = bound_of(values, i),
                        .place = values.place + static_cast<std::int64_t>(i)};
    candidate.real = real ? values.reals[i] : 0;
    candidate.integer = real ? 0 : values.integers[i];
    if (std::isinf(candidate.bound)) unknown_ = true;
    if (!std::isnan(candidate.real)) take(candidate);
  }
}

void BestPlace::merge(const BestPlace& later) noexcept {
  unknown_ |= later.unknown_;
  exact_rival_ = std::max(exact_rival_, later.exact_rival_);
  uncertain_rival_ = std::max(uncertain_rival_, later.uncertain_rival_);
  if (later.any_) take(later.best_);
}

Reduced BestPlace::result() const noexcept {
  const double least = score(best_) - best_.bound;  // the device's best is not below this
  const bool uncertain = any_ && ((uncertain_rival_ != -kInfinity && uncertain_rival_ >= least) ||
                                  (best_.bound != 0 && exact_rival_ >= least));
  return {.integer = any_ ? best_.place : 0, .bound = unknown_ || uncertain ? kInfinity : 0};
}

Accumulator::Accumulator(const expr::Node& node, DType argument)
    : type_(node.type), state_(start(node.op, argument)) {}

Accumulator::State Accumulator::start(Op op, DType argument) noexcept {
  switch (op) {
    case Op::reduce_any: return Decision(true);
    case Op::reduce_all: return Decision(false);
    case Op::reduce_argmin:
    case Op::reduce_argmax: return BestPlace(argument, is_largest(op));
    case Op::reduce_min:
    case Op::reduce_max:
    case Op::scan_min:
    case Op::scan_max:
      if (is_floating(argument)) return RealExtremum(is_largest(op));
      return IntegerExtremum(argument, is_largest(op));
    default: break;
  }
  if (!is_floating(argument)) return IntegerTotal(is_product(op));
  const Depth depth = expr::is_scan(op) ? scan_depth : reduction_depth;
  return is_product(op) ? State(RealProduct(depth)) : State(RealSum(depth));
}

void Accumulator::add(const Values& values) noexcept {
  std::visit([&](auto& state) { state.add(values); }, state_);
}

void Accumulator::merge(const Accumulator& later) noexcept {
  std::visit(
      [&](auto& state) {
        state.merge(*std::get_if<std::remove_reference_t<decltype(state)>>(&later.state_));
      },
      state_);
}

Reduced Accumulator::result() const noexcept {
  Reduced result = std::visit(
      [&](const auto& state) {
        if constexpr (requires { state.result(type_); }) {
          return state.result(type_);
        } else {
          return state.result();
        }
      },
      state_);
  if (!is_floating(type_)) return result;
  const Approx limited = in_range(arithmetic(type_), Approx{result.real, result.bound});
  return {.real = limited.value, .bound = limited.bound};
}

}  // namespace tilejit::reference
