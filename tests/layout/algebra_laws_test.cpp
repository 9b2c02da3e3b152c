// The defining laws of the layout algebra, pointwise on random layouts.
#include <gtest/gtest.h>

#include <set>

#include "layout/random_layouts.hpp"
#include "tilejit/error.hpp"
#include "tilejit/layout_algebra.hpp"

namespace tilejit {
namespace {

class Laws : public RandomLayouts {
 protected:
  Layout injective_layout(int modes, std::int64_t most) {
    Layout result;
    do {
      result = random_layout(modes, most);
    } while (!is_injective(result));
    return result;
  }
  static bool is_injective(const Layout& layout) {
    std::set<std::int64_t> seen;
    for (std::int64_t i = 0; i < size(layout).value(); ++i) {
      if (!seen.insert(value_at(layout, i)).second) return false;
    }
    return true;
  }
};

TEST_F(Laws, CoalesceKeepsTheFunction) {
  for (int n = 0; n < kCases; ++n) {
    const Layout a = random_layout(static_cast<int>(pick(1, 4)), 5), c = coalesce(a);
    SCOPED_TRACE(to_string(a) + " -> " + to_string(c));
    ASSERT_EQ(size(c), size(a));
    for (std::int64_t i = 0; i < size(a).value(); ++i) ASSERT_EQ(value_at(c, i), value_at(a, i));
  }
}

// Exact composition returns only layouts that are the composed function. What it refuses as inexact
// hardly ever is that function: only by chance, if strides of 0 hide a carry.
TEST_F(Laws, CompositionIsTheFunctionOfTheFunction) {
  int answered = 0, refused = 0, by_chance = 0;
  for (int n = 0; n < 5 * kCases; ++n) {
    const Layout a = random_layout(static_cast<int>(pick(1, 3)), 6);
    const Layout b = random_layout(static_cast<int>(pick(1, 3)), 4);
    SCOPED_TRACE(to_string(a) + " o " + to_string(b));
    Layout r;
    try {
      r = composition(a, b, Exactness::as_cute);
    } catch (const Error&) {
      EXPECT_THROW((void)composition(a, b), Error);
      continue;
    }
    bool is_it = true;
    for (std::int64_t i = 0; i < size(b).value(); ++i)
      is_it = is_it && value_at(r, i) == value_at(a, value_at(b, i));
    try {
      EXPECT_EQ(composition(a, b), r);
      EXPECT_TRUE(is_it) << to_string(r);
      ++answered;
    } catch (const Error&) {
      ++refused;
      by_chance += is_it;
    }
  }
  EXPECT_GT(answered, kCases / 10);
  EXPECT_GT(refused, 100);
  EXPECT_LT(by_chance, refused / 10);
}

TEST_F(Laws, ComplementIsDisjointAndReachesTheTarget) {
  for (int n = 0; n < kCases; ++n) {
    const Layout a = injective_layout(static_cast<int>(pick(1, 3)), 4);
    const std::int64_t target = pick(1, 200);
    Layout c;
    try {
      c = complement(a, target);
    } catch (const Error&) {
      continue;  // modes that interleave
    }
    SCOPED_TRACE(to_string(a) + " complement " + to_string(c));
    std::set<std::int64_t> of_a;
    for (std::int64_t i = 0; i < size(a).value(); ++i) of_a.insert(value_at(a, i));
    for (std::int64_t i = 1; i < size(c).value(); ++i) {
      ASSERT_GT(value_at(c, i), value_at(c, i - 1));
      ASSERT_EQ(of_a.count(value_at(c, i)), 0u);
    }
    if (cosize(a) != size(a).value()) continue;  // gaps inside `a` stay gaps
    ASSERT_GE(cosize(Layout({a.shape(), c.shape()}, {a.stride(), c.stride()})), target);
  }
}

TEST_F(Laws, InversesInvert) {
  for (int n = 0; n < kCases; ++n) {
    const Layout a = injective_layout(static_cast<int>(pick(1, 3)), 5);
    SCOPED_TRACE(to_string(a));
    const Layout r = right_inverse(a);
    for (std::int64_t i = 0; i < size(r).value(); ++i)
      ASSERT_EQ(value_at(a, value_at(r, i)), i) << to_string(r);
    try {
      const Layout l = left_inverse(a);
      for (std::int64_t i = 0; i < size(a).value(); ++i) ASSERT_EQ(value_at(l, value_at(a, i)), i);
    } catch (const Error&) {  // strides that do not divide
    }
  }
}

// If a tile divides evenly, a division holds every element of the layout once.
TEST_F(Laws, DivisionsHoldEveryElement) {
  for (int n = 0; n < kCases; ++n) {
    const std::int64_t tile = pick(1, 6), tiles = pick(1, 6), stride = pick(1, 9);
    const Layout a(tile * tiles, stride);
    const Layout divided = logical_divide(a, tile);
    SCOPED_TRACE(to_string(divided));
    ASSERT_EQ(size(divided), size(a));
    for (std::int64_t i = 0; i < size(a).value(); ++i)
      ASSERT_EQ(value_at(divided, i), value_at(a, i));
  }
}

TEST(Algebra, CostsNothingForHugeSizes) {
  const Layout huge("(1073741824,1073741824):(1,1073741824)");
  EXPECT_EQ(to_string(coalesce(huge)), "1152921504606846976:1");
  EXPECT_EQ(to_string(logical_divide(huge, 1024)), "(1024,1125899906842624):(1,1024)");
  EXPECT_EQ(to_string(complement(Layout("4:2"), std::int64_t{1} << 62)),
            "(2,576460752303423488):(1,8)");
  EXPECT_THROW((void)logical_product(huge, Layout("1073741824:1")), Error);
}

TEST(Algebra, RefusesWhatHasNoAnswer) {
  const Layout empty("(0,4):(4,1)");
  EXPECT_THROW((void)coalesce(empty), Error);
  EXPECT_THROW((void)composition(empty, Layout("2:1")), Error);
  EXPECT_THROW((void)composition(Layout("8:1"), empty), Error);
  EXPECT_THROW((void)complement(empty, 64), Error);
  EXPECT_THROW((void)complement("8:1", 0), Error);
  EXPECT_THROW((void)right_inverse(empty), Error);
  EXPECT_THROW((void)left_inverse("(4,2):(?,1)"), Error);
  EXPECT_THROW((void)complement("(4,2):(?,1)", 64), Error);
}

}  // namespace
}  // namespace tilejit
