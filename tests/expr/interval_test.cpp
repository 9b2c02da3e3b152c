// kernels_templates/tile/interval.cuh, compiled for the CPU: what it says of random expressions and
// conditions over random tiles, against their values at every coordinate.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#ifndef __device__
#define __device__
#define __forceinline__ inline
#endif
#include "tile/interval.cuh"

namespace tilejit {
namespace {

using tile::Interval;
using tile::Truth;

struct Both {  // an expression's value at a coordinate, and its interval over the tile
  std::int64_t value = 0;
  Interval interval;
};
struct Condition {
  bool value = false;
  Truth truth;
};

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

/// Makes the same expression from the same seed, at one coordinate of a tile.
class Maker {
 public:
  Maker(std::uint64_t seed, Both row, Both column) : random_(seed), row_(row), column_(column) {}

  Both expression(int depth) {
    const int kind = number(0, depth == 0 ? 2 : 11);
    if (kind == 0) return row_;
    if (kind == 1) return column_;
    if (kind == 2) {
      const std::int64_t x = number(-20, 20);
      return {x, tile::interval(x)};
    }
    if (kind == 3) {
      const Both a = expression(depth - 1);
      return {-a.value, tile::interval_neg(a.interval)};
    }
    if (kind == 4) {
      const Both a = expression(depth - 1);
      return {a.value < 0 ? -a.value : a.value, tile::interval_abs(a.interval)};
    }
    if (kind == 11) {
      const Condition c = condition(depth - 1);
      const Both a = expression(depth - 1), b = expression(depth - 1);
      return {c.value ? a.value : b.value, tile::interval_where(c.truth, a.interval, b.interval)};
    }
    const Both a = expression(depth - 1), b = expression(depth - 1);
    const Interval x = a.interval, y = b.interval;
    switch (kind) {
      case 5: return {a.value + b.value, tile::interval_add(x, y)};
      case 6: return {a.value - b.value, tile::interval_sub(x, y)};
      case 7: return {a.value * b.value, tile::interval_mul(x, y)};
      case 8: return {floor_div(a.value, b.value), tile::interval_floor_div(x, y)};
      case 9: {
        const std::int64_t rest =
            b.value == 0 ? 0 : a.value - floor_div(a.value, b.value) * b.value;
        return {rest, tile::interval_mod(x, y)};
      }
      default:
        return number(0, 1) == 0 ? Both{std::min(a.value, b.value), tile::interval_min(x, y)}
                                 : Both{std::max(a.value, b.value), tile::interval_max(x, y)};
    }
  }

  Condition condition(int depth) {
    const int kind = number(0, depth == 0 ? 5 : 8);
    if (kind == 6) {
      const Condition a = condition(depth - 1);
      return {!a.value, tile::truth_not(a.truth)};
    }
    if (kind > 6) {
      const Condition a = condition(depth - 1), b = condition(depth - 1);
      if (kind == 7) return {a.value && b.value, tile::truth_and(a.truth, b.truth)};
      return {a.value || b.value, tile::truth_or(a.truth, b.truth)};
    }
    const Both a = expression(depth > 0 ? depth - 1 : 0), b = expression(depth > 0 ? depth - 1 : 0);
    const Interval x = a.interval, y = b.interval;
    switch (kind) {
      case 0: return {a.value < b.value, tile::truth_lt(x, y)};
      case 1: return {a.value <= b.value, tile::truth_le(x, y)};
      case 2: return {a.value == b.value, tile::truth_eq(x, y)};
      case 3: return {a.value != b.value, tile::truth_ne(x, y)};
      case 4: return {a.value >= b.value, tile::truth_ge(x, y)};
      default: return {a.value > b.value, tile::truth_gt(x, y)};
    }
  }

 private:
  int number(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }

  std::mt19937_64 random_;
  Both row_, column_;
};

TEST(Intervals, HoldTheValuesOfRandomExpressions) {
  std::mt19937_64 random(1);
  int decided = 0;
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    const std::int64_t rows = static_cast<std::int64_t>(random() % 60) - 20,
                       columns = static_cast<std::int64_t>(random() % 60) - 20;
    const std::int64_t height = 1 + static_cast<std::int64_t>(random() % 8),
                       width = 1 + static_cast<std::int64_t>(random() % 8);
    const Interval in_rows = tile::interval(rows, rows + height - 1),
                   in_columns = tile::interval(columns, columns + width - 1);
    bool is_decided = false;
    for (std::int64_t i = rows; i < rows + height; ++i) {
      for (std::int64_t j = columns; j < columns + width; ++j) {
        const Condition c = Maker(seed, {i, in_rows}, {j, in_columns}).condition(4);
        ASSERT_TRUE(c.value ? c.truth.may_hold : c.truth.may_fail)
            << "seed " << seed << " at " << i << ", " << j;
        is_decided = c.truth.may_hold != c.truth.may_fail;
        const Both e = Maker(seed + 1, {i, in_rows}, {j, in_columns}).expression(3);
        ASSERT_LE(e.interval.low, e.value) << "seed " << seed + 1 << " at " << i << ", " << j;
        ASSERT_GE(e.interval.high, e.value) << "seed " << seed + 1 << " at " << i << ", " << j;
      }
    }
    decided += is_decided;
  }
  EXPECT_GT(decided, 400);  // else nothing would ever be left out
}

TEST(Intervals, DecideTheMasksOfAttention) {
  const Interval queries = tile::interval(128, 255);
  const auto keys = [](int first) { return tile::interval(first, first + 127); };
  const auto causal = [&](int first) { return tile::truth_le(keys(first), queries); };
  EXPECT_FALSE(causal(0).may_fail);
  EXPECT_TRUE(causal(128).may_fail && causal(128).may_hold);
  EXPECT_FALSE(causal(256).may_hold);
  const auto window = [&](int first) {
    return tile::truth_lt(tile::interval_abs(tile::interval_sub(keys(first), queries)),
                          tile::interval(300));
  };
  EXPECT_FALSE(window(640).may_hold);
  EXPECT_FALSE(window(128).may_fail);
  const auto chunked = [&](int first) {
    return tile::truth_eq(tile::interval_floor_div(keys(first), tile::interval(256)),
                          tile::interval_floor_div(queries, tile::interval(256)));
  };
  EXPECT_FALSE(chunked(0).may_fail);
  EXPECT_FALSE(chunked(256).may_hold);
}

TEST(Intervals, OfLargeValuesAreUnbounded) {
  const Interval large = tile::interval(INT64_MIN, INT64_MAX), one = tile::interval(1);
  EXPECT_TRUE(tile::truth_lt(large, one).may_fail && tile::truth_lt(large, one).may_hold);
  EXPECT_FALSE(tile::is_bounded(tile::interval_add(large, one)));
  const Interval word = tile::interval_i32(tile::interval(std::int64_t{1} << 31));
  EXPECT_EQ(word.low, INT32_MIN);
  EXPECT_EQ(word.high, INT32_MAX);
}

}  // namespace
}  // namespace tilejit
