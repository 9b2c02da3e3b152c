#include "tilejit/swizzle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "layout/random_layouts.hpp"
#include "tilejit/error.hpp"

namespace tilejit {
namespace {

class Swizzles : public RandomLayouts {
 protected:
  Swizzle random_swizzle(int most_bits) {
    const auto bits = static_cast<int>(pick(0, most_bits)), base = static_cast<int>(pick(0, 3));
    const auto shift = static_cast<int>(pick(std::max(bits, 1), most_bits + 1));
    return {bits, base, pick(0, 1) == 0 ? shift : -shift};
  }
};

TEST_F(Swizzles, ArePermutationsAndTheirOwnInverse) {
  for (int n = 0; n < 300; ++n) {
    const Swizzle swizzle = random_swizzle(3);
    SCOPED_TRACE(to_string(swizzle));
    EXPECT_EQ(parse_swizzle(to_string(swizzle)), swizzle);
    EXPECT_EQ(swizzle.source_mask() & swizzle.target_mask(), 0);
    std::set<std::int64_t> seen;
    const std::int64_t end = std::int64_t{1}
                             << (swizzle.base() + swizzle.bits() + std::abs(swizzle.shift()));
    for (std::int64_t i = 0; i < end; ++i) {
      ASSERT_EQ(swizzle(swizzle(i)), i);
      ASSERT_LT(swizzle(i), end);
      ASSERT_EQ(swizzle(i + 5 * end), swizzle(i) + 5 * end);
      seen.insert(swizzle(i));
    }
    EXPECT_EQ(static_cast<std::int64_t>(seen.size()), end);
  }
}

TEST_F(Swizzles, OfWiderElementsAreTheSameOfTheirBytes) {
  for (int n = 0; n < kCases; ++n) {
    const Swizzle swizzle = random_swizzle(3);
    const std::int64_t width = std::int64_t{1} << pick(0, 3), i = pick(0, 1 << 20);
    SCOPED_TRACE(to_string(swizzle) + " " + std::to_string(width));
    EXPECT_EQ(upcast(downcast(swizzle, width), width), swizzle);
    EXPECT_EQ(downcast(swizzle, width)(i * width), swizzle(i) * width);
    if (std::int64_t{1} << swizzle.base() >= width) {
      EXPECT_EQ(upcast(swizzle, width)(i), swizzle(i * width) / width);
    }
  }
}

TEST_F(Swizzles, MoveThroughALayoutOrAreRefused) {
  int moved = 0;
  for (int n = 0; n < 5 * kCases; ++n) {
    const Layout a = pick(0, 1) == 0 ? random_layout(static_cast<int>(pick(1, 3)), 9)
                                     : layout_of_bits(static_cast<int>(pick(1, 3)), 3);
    const ComposedLayout b(random_swizzle(2), 0, Layout(size(a), 1));
    SCOPED_TRACE(to_string(a) + " o " + to_string(b));
    ComposedLayout result;
    try {
      result = composition(a, b);
    } catch (const Error&) {
      continue;
    }
    moved += !result.is_plain();
    for (std::int64_t i = 0; i < size(b.layout()).value(); ++i) {
      ASSERT_EQ(result(i), value_at(a, b(i))) << to_string(result);
    }
  }
  EXPECT_GT(moved, kCases / 10);
}

TEST_F(Swizzles, InversesInvert) {
  int right = 0, left = 0;
  for (int n = 0; n < 5 * kCases; ++n) {
    Layout inside = layout_of_bits(static_cast<int>(pick(1, 3)), 3);
    if (pick(0, 1) == 0) inside = random_layout(2, 6);
    if (is_injective(inside) != true) continue;
    const ComposedLayout a(random_swizzle(2), 0, inside);
    SCOPED_TRACE(to_string(a));
    try {
      const ComposedLayout r = right_inverse(a);
      for (std::int64_t i = 0; i < size(r.layout()).value(); ++i) ASSERT_EQ(a(r(i)), i);
      right += !r.is_plain();
    } catch (const Error&) {
    }
    try {
      const ComposedLayout l = left_inverse(a);
      for (std::int64_t i = 0; i < size(inside).value(); ++i) ASSERT_EQ(a(l(a(i))), a(i));
      left += !l.is_plain();
    } catch (const Error&) {
    }
  }
  EXPECT_GT(right, kCases / 10);
  EXPECT_GT(left, kCases / 10);
}

TEST(ComposedLayout, PrintsWhatItParsed) {
  for (const char* text : {"Sw<3,3,3> o 0 o (8,8):(8,1)", "Sw<1,0,-2> o 24 o 16:1",
                           "Sw<0,0,0> o 15 o (M,N):(N,1)", "(8,(4,2)):(8,(1,4))", "1:0", "Sw:1"}) {
    SCOPED_TRACE(text);
    const ComposedLayout layout = parse_composed_layout(text);
    EXPECT_EQ(to_string(layout), text);
    EXPECT_EQ(std::hash<ComposedLayout>()(layout),
              std::hash<ComposedLayout>()(parse_composed_layout(to_string(layout))));
  }
  EXPECT_EQ(to_string(parse_composed_layout(" S<3,4,3> o 0 o 8 : 1 ")), "Sw<3,4,3> o 0 o 8:1");
  EXPECT_EQ(parse_composed_layout("Sw<0,3,3> o 0 o 8:1"), ComposedLayout("8:1"));
  EXPECT_TRUE(parse_composed_layout("Sw<0,3,3> o 0 o 8:1").is_plain());
  EXPECT_NE(std::hash<Swizzle>()(Swizzle(1, 2, 3)), std::hash<Swizzle>()(Swizzle(1, 2, -3)));
  EXPECT_NE(parse_composed_layout("Sw<1,0,1> o 0 o 8:1"), parse_composed_layout("8:1"));
}

TEST(ComposedLayout, CountsWiderElements) {
  const ComposedLayout bytes = parse_composed_layout("Sw<3,4,3> o 64 o (8,128):(128,1)");
  EXPECT_EQ(to_string(upcast(bytes, 2)), "Sw<3,3,3> o 32 o (8,64):(64,1)");
  EXPECT_EQ(downcast(upcast(bytes, 2), 2), bytes);
  EXPECT_EQ(to_string(upcast(bytes, 64)), "Sw<1,0,3> o 1 o (8,2):(2,1)");
  EXPECT_THROW((void)upcast(bytes, 3), Error);
  EXPECT_THROW((void)upcast(bytes, 128), Error);  // does not divide the offset
}

TEST(Swizzle, RefusesBadParameters) {
  EXPECT_NO_THROW(Swizzle(31, 0, 31));
  struct Row {
    int bits, base, shift;
  };
  for (const Row& row :
       {Row{-1, 0, 3}, Row{2, -1, 3}, Row{3, 0, 2}, Row{3, 0, -2}, Row{1, 61, 1}, Row{31, 1, 31},
        Row{1, 0, std::numeric_limits<int>::min()}, Row{1, std::numeric_limits<int>::max(), 1}}) {
    EXPECT_THROW(Swizzle(row.bits, row.base, row.shift), Error) << row.bits << " " << row.base;
  }
  for (const char* text : {"", "S", "Sw<1,2>", "Sw<1,2,3", "Sw<1,2,3>x", "Sw<1,2,99999999999>",
                           "Sw<-1,2,3>", "Sw(1,2,3)", "Sw<3,0,2>", "Sw<1,2,--3>"}) {
    EXPECT_THROW((void)parse_swizzle(text), Error) << text;
  }
  for (const char* text : {"Sw<1,2,3>", "Sw<1,2,3> o 0", "Sw<1,2,3> o 8:1", "Sw<1,2,3> o -1 o 8:1",
                           "Sw<1,2,3> o 0 o 8:1 x", "Sw<1,2,3> o 0 o 8", "S<"}) {
    EXPECT_THROW((void)parse_composed_layout(text), Error) << text;
  }
  EXPECT_THROW((void)upcast(Swizzle(1, 1, 1), 3), Error);
  EXPECT_THROW((void)upcast(Swizzle(1, 1, 1), 0), Error);
  EXPECT_THROW((void)downcast(Swizzle(1, 60, 1), 2), Error);
  EXPECT_THROW(ComposedLayout(Swizzle(), -1, "8:1"), Error);
}

TEST(ComposedLayout, RefusesWhatHasNoAnswer) {
  const ComposedLayout shifted = parse_composed_layout("Sw<1,0,1> o 4 o 8:1");
  EXPECT_THROW((void)right_inverse(shifted), Error);
  EXPECT_THROW((void)left_inverse(shifted), Error);
  EXPECT_THROW((void)composition(Layout("8:1"), shifted), Error);
  EXPECT_THROW((void)shifted(-1), Error);
  const ComposedLayout swizzled = parse_composed_layout("Sw<1,0,1> o 0 o 8:1");
  const ComposedLayout symbolic = parse_composed_layout("Sw<1,0,1> o 0 o (M,4):(4,1)");
  EXPECT_THROW((void)right_inverse(symbolic), Error);
  EXPECT_THROW((void)left_inverse(symbolic), Error);
  EXPECT_THROW((void)composition(Layout("8:1"), symbolic), Error);
  EXPECT_THROW((void)composition(Layout("(M,4):(4,1)"), swizzled), Error);
  EXPECT_THROW((void)composition(Layout("(3,3):(3,1)"), swizzled), Error);  // carries into bit 2
  EXPECT_THROW((void)composition(Layout("(2,4):(1,1)"), swizzled), Error);  // bits that overlap
  EXPECT_THROW((void)right_inverse(parse_composed_layout("Sw<1,0,-3> o 0 o 8:1")), Error);
  EXPECT_THROW((void)left_inverse(parse_composed_layout("Sw<1,0,-1> o 0 o (5,2):(1,12)")), Error);
  EXPECT_THROW((void)parse_composed_layout("Sw<1,0,1> o 0 o (M,4):(4,1)")(3), Error);
  EXPECT_THROW((void)parse_composed_layout("(0,4):(4,1)")(0), Error);
  EXPECT_THROW((void)parse_composed_layout("Sw<1,0,1> o 9223372036854775807 o 8:1")(1), Error);
}

TEST(ComposedLayouts, AreSlicedByCoordinates) {
  const ComposedLayout tile(Swizzle(3, 0, 3), 5, Layout("(8,(4,2)):(8,(1,4))"));
  const ComposedLayout row = slice({3, _}, tile);
  for (std::int64_t n = 0; n < 8; ++n) {
    EXPECT_EQ(row(n), tile({3, n}));
    EXPECT_EQ(row(n), tile({3, {n % 4, n / 4}}));
  }
  EXPECT_THROW((void)slice({3, 0}, tile), Error);
}

}  // namespace
}  // namespace tilejit
