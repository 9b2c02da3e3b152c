// Swizzled layouts as functions, on random layouts.
#include <gtest/gtest.h>

#include "layout/domains.hpp"
#include "tilejit/swizzle.hpp"

namespace tilejit {
namespace {

class SwizzleLaws : public RandomDomains {
 protected:
  Swizzle random_swizzle() {
    const auto bits = static_cast<int>(pick(0, 3)), base = static_cast<int>(pick(0, 2));
    const auto shift = static_cast<int>(pick(bits, 4));
    return {bits, base, pick(0, 1) == 0 ? shift : -shift};
  }
  Layout bits_or_any() {
    return pick(0, 1) == 0 ? layout_of_bits(static_cast<int>(pick(1, 3)), 3) : any_layout(3, 5);
  }
  static Integers values_of_composed(const ComposedLayout& layout) {
    Integers values;
    for (std::int64_t i = 0; i < size(layout.layout()).value(); ++i) values.push_back(layout(i));
    return values;
  }
};

// Bit k of the source is xored onto bit k of the target, and nothing else changes.
TEST_F(SwizzleLaws, BitsAreXoredOneByOne) {
  for (int n = 0; n < kCases; ++n) {
    const Swizzle swizzle = random_swizzle();
    const std::int64_t i = pick(0, 1 << 12);
    std::int64_t expected = i;
    for (int k = 0; k < swizzle.bits(); ++k) {
      const int low = swizzle.base() + k, high = low + std::abs(swizzle.shift());
      const int from = swizzle.shift() > 0 ? high : low, to = swizzle.shift() > 0 ? low : high;
      expected ^= (i >> from & 1) << to;
    }
    ASSERT_EQ(swizzle(i), expected) << to_string(swizzle) << " of " << i;
    const ComposedLayout composed(swizzle, i % 7, "(4,8):(16,1)");
    ASSERT_EQ(composed(9), swizzle(i % 7 + 18)) << to_string(composed);
  }
}

TEST_F(SwizzleLaws, CompositionFromTheLeftIsTheFunctionOfTheFunction) {
  int moved = 0, with_carries = 0;
  for (int n = 0; n < 2 * kCases; ++n) {
    const Layout a = bits_or_any(), inside = bits_or_any();
    const ComposedLayout b(random_swizzle(), 0, inside);
    const auto result = answer([&] { return composition(a, b); });
    if (!result) continue;
    SCOPED_TRACE(to_string(a) + " o " + to_string(b) + " -> " + to_string(*result));
    moved += !result->is_plain();
    with_carries += !result->is_plain() && inside.leaves().size() > 1;
    for (std::int64_t i = 0; i < size(inside).value(); ++i) {
      ASSERT_EQ((*result)(i), value_at(a, b(i)));
    }
  }
  EXPECT_GT(moved, kCases / 4);
  EXPECT_GT(with_carries, kCases / 8);
}

TEST_F(SwizzleLaws, LeftInversesOfInjectiveLayoutsInvert) {
  int bits = 0, others = 0;
  for (int n = 0; n < 2 * kCases; ++n) {
    const bool is_of_bits = pick(0, 1) == 0;
    const Layout inside =
        is_of_bits ? layout_of_bits(static_cast<int>(pick(1, 3)), 4) : injective_layout(3, 5);
    const ComposedLayout a(random_swizzle(), 0, inside);
    const auto left = answer([&] { return left_inverse(a); });
    if (!left || a.is_plain()) continue;
    SCOPED_TRACE(to_string(a) + " -> " + to_string(*left));
    ++(is_of_bits ? bits : others);
    for (std::int64_t i = 0; i < size(inside).value(); ++i) ASSERT_EQ((*left)(a(i)), i);
  }
  EXPECT_GT(bits, kCases / 4);
  EXPECT_GT(others, kCases / 20);
}

// Right inverses do not need injective layouts: what is left out of them is not checked.
TEST_F(SwizzleLaws, RightInversesInvert) {
  int long_ones = 0;
  for (int n = 0; n < 2 * kCases; ++n) {
    const ComposedLayout a(random_swizzle(), 0, bits_or_any());
    const auto right = answer([&] { return right_inverse(a); });
    if (!right || a.is_plain()) continue;
    SCOPED_TRACE(to_string(a) + " -> " + to_string(*right));
    long_ones += size(right->layout()).value() > 1;
    for (std::int64_t i = 0; i < size(right->layout()).value(); ++i) ASSERT_EQ(a((*right)(i)), i);
  }
  EXPECT_GT(long_ones, kCases / 8);
}

TEST_F(SwizzleLaws, CastsReachTheSameElements) {
  int narrowed = 0, widened = 0;
  for (int n = 0; n < kCases; ++n) {
    const std::int64_t width = std::int64_t{1} << pick(0, 2);
    const Layout inside = layout_of_bits(static_cast<int>(pick(1, 3)), 4);
    const ComposedLayout a(random_swizzle(), width * pick(0, 5), inside);
    SCOPED_TRACE(to_string(a) + " by " + std::to_string(width));
    const Integers values = values_of_composed(a);
    if (const auto narrow = answer([&] { return downcast(a, width); })) {
      ++narrowed;
      Integers parts;
      for (const std::int64_t value : values) {
        for (std::int64_t part = 0; part < width; ++part) parts.push_back(value * width + part);
      }
      ASSERT_EQ(sorted(values_of_composed(*narrow)), sorted(parts));
      ASSERT_EQ(upcast(*narrow, width), a);
    }
    if (std::int64_t{1} << a.swizzle().base() < width) continue;
    ++widened;
    Integers wide;
    for (const std::int64_t value : values) wide.push_back(value / width);
    ASSERT_EQ(distinct(values_of_composed(upcast(a, width))), distinct(wide));
  }
  EXPECT_GT(narrowed, kCases / 2);
  EXPECT_GT(widened, kCases / 4);
}

TEST_F(SwizzleLaws, OperationsFromTheRightKeepTheSwizzle) {
  int composed = 0;
  for (int n = 0; n < kCases; ++n) {
    const Layout inside = layout_of_bits(3, 2), b = any_layout(2, 4);
    const ComposedLayout a(random_swizzle(), pick(0, 9), inside);
    SCOPED_TRACE(to_string(a) + " o " + to_string(b));
    const Integers values = sorted(values_of_composed(a));
    const Tiler tiler = std::vector<Tiler>(3, Tiler(Layout(2, 1)));
    if (evenly_divides(inside.shape(), tiler)) {
      ASSERT_EQ(sorted(values_of_composed(logical_divide(a, tiler))), values);
      ASSERT_EQ(values_of_composed(zipped_divide(a, tiler)),
                values_of_composed(flat_divide(a, tiler)));
    }
    const auto result = answer([&] { return composition(a, b); });
    if (!result) continue;
    ++composed;
    for (std::int64_t i = 0; i < size(b).value(); ++i) {
      ASSERT_EQ((*result)(i), a.swizzle()(a.offset() + value_at(inside, value_at(b, i))));
    }
  }
  EXPECT_GT(composed, kCases / 4);
}

}  // namespace
}  // namespace tilejit
