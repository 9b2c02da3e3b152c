// What integer expressions and conditions are over a tile of coordinates: the least and the
// greatest value that an expression may have, and whether a condition may hold and may fail. Values
// of 2^61 and beyond count as unbounded.
#pragma once

#include "tile/types.cuh"

namespace tile {

constexpr i64 kUnbounded = i64(1) << 61;

struct Interval {
  i64 low = -kUnbounded, high = kUnbounded;
};
struct Truth {
  bool may_hold = true, may_fail = true;
};

TILE_DEVICE i64 interval_end(i64 x) {
  return x < -kUnbounded ? -kUnbounded : x > kUnbounded ? kUnbounded : x;
}
TILE_DEVICE bool is_bounded(Interval a) {
  return a.low > -kUnbounded && a.high < kUnbounded;
}
TILE_DEVICE Interval interval(i64 low, i64 high) {
  return {interval_end(low), interval_end(high)};
}
TILE_DEVICE Interval interval(i64 x) {
  return interval(x, x);
}
// A value of 32 bits wraps around where it would not fit.
TILE_DEVICE Interval interval_i32(Interval a) {
  const i64 end = i64(1) << 31;
  return a.low < -end || a.high >= end ? Interval{-end, end - 1} : a;
}

TILE_DEVICE Interval interval_neg(Interval a) {
  return {-a.high, -a.low};
}
TILE_DEVICE Interval interval_add(Interval a, Interval b) {
  return !is_bounded(a) || !is_bounded(b) ? Interval{} : interval(a.low + b.low, a.high + b.high);
}
TILE_DEVICE Interval interval_sub(Interval a, Interval b) {
  return interval_add(a, interval_neg(b));
}
TILE_DEVICE Interval interval_mul(Interval a, Interval b) {
  const i64 small = i64(1) << 30;
  const bool fits = a.low > -small && a.high < small && b.low > -small && b.high < small;
  if (!fits) return {};
  const i64 x = a.low * b.low, y = a.low * b.high, z = a.high * b.low, w = a.high * b.high;
  const i64 low = x < y ? x : y, other_low = z < w ? z : w;
  const i64 high = x > y ? x : y, other_high = z > w ? z : w;
  return {low < other_low ? low : other_low, high > other_high ? high : other_high};
}
TILE_DEVICE i64 floor_quotient(i64 a, i64 b) {
  return a / b - (a % b != 0 && a < 0);
}
// By a positive number; other divisors give any value.
TILE_DEVICE Interval interval_floor_div(Interval a, Interval b) {
  if (!is_bounded(a) || !is_bounded(b) || b.low <= 0) return {};
  return {floor_quotient(a.low, a.low < 0 ? b.low : b.high),
          floor_quotient(a.high, a.high < 0 ? b.high : b.low)};
}
TILE_DEVICE Interval interval_mod(Interval a, Interval b) {
  if (!is_bounded(a) || !is_bounded(b) || b.low <= 0) return {};
  if (b.low != b.high) return {0, b.high - 1};
  const i64 first = floor_quotient(a.low, b.low), last = floor_quotient(a.high, b.low);
  return first == last ? Interval{a.low - first * b.low, a.high - first * b.low}
                       : Interval{0, b.low - 1};
}
TILE_DEVICE Interval interval_min(Interval a, Interval b) {
  return {a.low < b.low ? a.low : b.low, a.high < b.high ? a.high : b.high};
}
TILE_DEVICE Interval interval_max(Interval a, Interval b) {
  return {a.low > b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}
TILE_DEVICE Interval interval_abs(Interval a) {
  return interval_max({a.low < 0 && a.high > 0 ? 0 : a.low, a.high},
                      {a.low < 0 && a.high > 0 ? 0 : -a.high, -a.low});
}
TILE_DEVICE Interval interval_where(Truth c, Interval a, Interval b) {
  if (!c.may_fail) return a;
  if (!c.may_hold) return b;
  return {a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
}

TILE_DEVICE Truth truth(bool x) {
  return {x, !x};
}
TILE_DEVICE Truth truth_not(Truth a) {
  return {a.may_fail, a.may_hold};
}
TILE_DEVICE Truth truth_and(Truth a, Truth b) {
  return {a.may_hold && b.may_hold, a.may_fail || b.may_fail};
}
TILE_DEVICE Truth truth_or(Truth a, Truth b) {
  return {a.may_hold || b.may_hold, a.may_fail && b.may_fail};
}
// Unbounded ends compare as unknown.
TILE_DEVICE bool is_surely_below(i64 high, i64 low) {
  return high < low && high < kUnbounded && low > -kUnbounded;
}
TILE_DEVICE Truth truth_lt(Interval a, Interval b) {
  const bool never = b.high < kUnbounded && is_surely_below(b.high - 1, a.low);
  return {!never, !is_surely_below(a.high, b.low)};
}
TILE_DEVICE Truth truth_gt(Interval a, Interval b) {
  return truth_lt(b, a);
}
TILE_DEVICE Truth truth_ge(Interval a, Interval b) {
  return truth_not(truth_lt(a, b));
}
TILE_DEVICE Truth truth_le(Interval a, Interval b) {
  return truth_not(truth_lt(b, a));
}
TILE_DEVICE Truth truth_eq(Interval a, Interval b) {
  const bool apart = is_surely_below(a.high, b.low) || is_surely_below(b.high, a.low);
  const bool same = a.low == a.high && b.low == b.high && a.low == b.low && is_bounded(a);
  return {!apart, !same};
}
TILE_DEVICE Truth truth_ne(Interval a, Interval b) {
  return truth_not(truth_eq(a, b));
}

}  // namespace tile
