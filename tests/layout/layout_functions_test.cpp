#include "tilejit/layout_functions.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "layout/random_layouts.hpp"
#include "tilejit/error.hpp"
#include "tilejit/layout_algebra.hpp"

namespace tilejit {
namespace {

class Functions : public RandomLayouts {};

ErrorCode code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_LT(std::string(error.what()).size(), 400u);
    return error.code();
  }
  ADD_FAILURE() << "accepted";
  return ErrorCode::io;
}

TEST_F(Functions, NullspaceIsWhereTheLayoutIsZero) {
  for (int n = 0; n < kCases; ++n) {
    const Layout a = random_layout(static_cast<int>(pick(1, 4)), 4, 2), zeros = nullspace(a);
    SCOPED_TRACE(to_string(a) + " -> " + to_string(zeros));
    std::int64_t expected = 1;
    for (const Mode& leaf : a.leaves()) {
      if (leaf.stride.is(0)) expected *= leaf.extent.value();
    }
    ASSERT_EQ(size(zeros), Dim(expected));
    std::set<std::int64_t> seen;
    for (std::int64_t i = 0; i < expected; ++i) {
      ASSERT_EQ(value_at(a, value_at(zeros, i)), 0);
      ASSERT_TRUE(seen.insert(value_at(zeros, i)).second);
    }
  }
}

TEST_F(Functions, CommonLayoutIsContiguousInBoth) {
  int long_ones = 0;
  for (int n = 0; n < kCases; ++n) {
    const Layout a = random_layout(static_cast<int>(pick(1, 3)), 4);
    const Layout b = pick(0, 1) == 0 ? a : random_layout(static_cast<int>(pick(1, 3)), 4);
    SCOPED_TRACE(to_string(a) + " and " + to_string(b));
    Layout common;
    try {
      common = max_common_layout(a, b);
    } catch (const Error&) {
      continue;  // modes that do not divide
    }
    ASSERT_EQ(size(common), max_common_vector(a, b));
    long_ones += size(common).value() > 1;
    for (std::int64_t i = 0; i < size(common).value(); ++i) {
      ASSERT_EQ(value_at(a, value_at(common, i)), i) << to_string(common);
      ASSERT_EQ(value_at(b, value_at(common, i)), i) << to_string(common);
    }
  }
  EXPECT_GT(long_ones, kCases / 10);
}

TEST_F(Functions, CompactLayoutsAreOneAlignedVector) {
  for (int n = 0; n < kCases; ++n) {
    const Layout a = compact_layout(random_shape(static_cast<int>(pick(1, 3)), 6));
    const std::int64_t alignment = max_alignment(a);
    SCOPED_TRACE(to_string(a) + " " + std::to_string(alignment));
    ASSERT_EQ(alignment, size(a).value());
    ASSERT_NO_THROW((void)upcast(a, alignment));
  }
}

// Old element c' lies in new element upcast(layout)(c) if n divides the extent along stride 1.
TEST_F(Functions, UpcastAndDowncastCountWiderElements) {
  for (int n = 0; n < kCases; ++n) {
    const std::int64_t width = pick(1, 6), inner = width * pick(1, 4), outer = pick(1, 5);
    const Layout a({outer, inner}, {inner * pick(2, 3), 1});
    const Layout wide = upcast(a, width);
    SCOPED_TRACE(to_string(a) + " -> " + to_string(wide));
    ASSERT_EQ(size(wide).value() * width, size(a).value());
    for (std::int64_t row = 0; row < outer; ++row) {
      for (std::int64_t i = 0; i < inner; ++i) {
        ASSERT_EQ(value_at(wide, row + outer * (i / width)), value_at(a, row + outer * i) / width);
      }
    }
    ASSERT_EQ(downcast(wide, width).shape(), a.shape());
    for (std::int64_t i = 0; i < size(a).value(); ++i) {
      ASSERT_EQ(value_at(downcast(wide, width), i), value_at(a, i));
    }
    ASSERT_EQ(recast_layout(a, 8, 8 * width), wide);
  }
}

TEST_F(Functions, TilesCoverTheShape) {
  for (int n = 0; n < kCases; ++n) {
    const Layout block = compact_layout(random_shape(static_cast<int>(pick(1, 3)), 3));
    IntTuple shape = IntTuple::empty_tuple(), order = IntTuple::empty_tuple();
    for (std::size_t i = 0; i < rank(block); ++i) {
      shape.append(size(mode(block, i)) * pick(1, 3));
      order.append(pick(0, 1) * 10 + static_cast<std::int64_t>(i));
    }
    const Layout whole = tile_to_shape(block, shape, order);
    SCOPED_TRACE(to_string(block) + " " + to_string(shape) + " -> " + to_string(whole));
    ASSERT_TRUE(is_compact(whole));
    ASSERT_EQ(size(whole), product(shape));
    for (std::size_t i = 0; i < rank(block); ++i) {
      ASSERT_EQ(size(mode(whole, i)), product(mode(shape, i)));
      ASSERT_EQ(mode(mode(whole, i), 0), mode(block, i));
    }
  }
}

TEST_F(Functions, DistributionIsAscending) {
  for (int n = 0; n < kCases; ++n) {
    const IntTuple shape = random_shape(static_cast<int>(pick(1, 4)), 12);
    const std::int64_t wanted = pick(1, 64);
    const Layout part = domain_distribute(shape, wanted);
    SCOPED_TRACE(to_string(shape) + " " + std::to_string(wanted) + " -> " + to_string(part));
    ASSERT_EQ(wanted % size(part).value(), 0);
    for (std::int64_t i = 1; i < size(part).value(); ++i) {
      ASSERT_GT(value_at(part, i), value_at(part, i - 1));
    }
    ASSERT_LT(value_at(part, size(part).value() - 1), product(shape).value());
  }
}

TEST_F(Functions, InjectiveAndCompactAgreeWithTheDomain) {
  int injective = 0, others = 0;
  for (int n = 0; n < 10 * kCases; ++n) {
    const Layout a = random_layout(static_cast<int>(pick(1, 3)), 5, 60);
    SCOPED_TRACE(to_string(a));
    std::set<std::int64_t> seen;
    for (std::int64_t i = 0; i < size(a).value(); ++i) seen.insert(value_at(a, i));
    const bool expected = static_cast<std::int64_t>(seen.size()) == size(a).value();
    const auto answer = is_injective(a);
    ASSERT_TRUE(answer.has_value() || a.leaves().size() > 3);
    if (!answer) continue;
    ASSERT_EQ(*answer, expected);
    ASSERT_EQ(is_compact(a), expected && cosize(a) == size(a).value());
    ++(expected ? injective : others);
  }
  EXPECT_GT(injective, kCases);
  EXPECT_GT(others, kCases / 3);
}

TEST(Injective, IsDecidedWithoutTheDomain) {
  struct Row {
    const char *layout, *answer;
  };
  constexpr Row kRows[] = {
      {"(1073741824,1073741824):(1,1073741824)", "yes"},
      {"(1073741824,1073741824):(1,1073741823)", "no"},
      {"(1000000007,1000000009):(1000000009,1000000007)", "yes"},
      {"(1000000008,1000000009):(1000000009,1000000007)", "yes"},
      {"(1000000008,1000000010):(1000000009,1000000007)", "no"},
      {"(3,1000000,1000000):(1,1000003,999983)", "no"},
      {"(5000,5000,5000):(100000007,100000037,100000039)", "?"},
      {"(1000,1000,1000):(101,103,107)", "no"},    // 10^9 coordinates, fewer indices
      {"(2,3,1000,1000):(1,2,6006,6012)", "yes"},  // two pairs that cannot cancel out
      {"(2,3,1003,1002):(1,2,6006,6012)", "no"},
      {"(4,4):(0,1)", "no"},
      {"(1,4):(0,1)", "yes"},
      {"(0,4):(0,0)", "yes"},
      {"(M,N):(N,1)", "yes"},
      {"(M,N,K):(K,K*M,1)", "yes"},
      {"(M,N):(1,1)", "?"},
      {"(M,4):(4,0)", "no"},
      {"(M,N):(1,0)", "?"},
      {"(?,4):(4,1)", "yes"},
      {"(?,4):(?{div=4},1)", "?"},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.layout);
    const auto answer = is_injective(Layout(row.layout));
    EXPECT_STREQ(!answer ? "?" : *answer ? "yes" : "no", row.answer);
  }
  EXPECT_EQ(is_injective("(1,4):(M,1)"), true);
  EXPECT_EQ(code_of([] { (void)is_injective("(4611686018427387904,3):(2,1)"); }),
            ErrorCode::unsupported);
}

TEST(Compact, IsKnownOfSymbolsToo) {
  for (const char* text : {"(M,N):(N,1)", "((2,M),N):((1,2),2*M)", "(8,1,4):(4,77,1)", "1:0",
                           "(0,4):(9,9)", "(?,4):(4,1)"}) {
    EXPECT_TRUE(is_compact(Layout(text))) << text;
  }
  for (const char* text : {"(M,N):(1,N)", "(4,?):(?,1)", "(8,4):(5,1)", "4:2", "(2,2):(1,1)"}) {
    EXPECT_FALSE(is_compact(Layout(text))) << text;
  }
}

TEST(Alignment, OfVectorsAndTheirStarts) {
  struct Row {
    const char* layout;
    std::int64_t offset;
    const char* vector;
    std::int64_t alignment;
  };
  constexpr std::int64_t kAny = std::int64_t{1} << 62;
  constexpr Row kRows[] = {
      {"(8,4):(1,8)", 0, "32", kAny},      {"(8,4):(1,24)", 0, "8", 8},
      {"(8,4):(1,24)", 4, "8", 4},         {"(8,4):(4,1)", 0, "1", 4},
      {"(1,8,4):(7,1,8)", 0, "32", kAny},  {"(2,8,4):(0,1,8)", 0, "1", kAny},
      {"(M,N):(1,M)", 0, "M*N", kAny},     {"(N,M):(1,8*L)", 16, "N", 8},
      {"(8,?):(1,?{div=12})", 0, "8", 4},  {"(4,3,2):(1,1,4)", 0, "4", 1},
      {"(4,3,2,2):(1,8,4,16)", 0, "4", 4},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.layout);
    EXPECT_EQ(to_string(contiguous_vector(Layout(row.layout))), row.vector);
    EXPECT_EQ(common_alignment(Layout(row.layout), row.offset), row.alignment);
  }
  EXPECT_EQ(code_of([] { (void)common_alignment("8:1", -1); }), ErrorCode::invalid_argument);
}

TEST(LayoutFunctions, TakeSymbolsWhereTheAnswerIsCertain) {
  EXPECT_EQ(to_string(nullspace("(M,N,4):(0,4,0)")), "(M,4):(1,M*N)");
  EXPECT_EQ(to_string(filter_zeros("(M,N):(N,1)", IntTuple{0, 1})), "(1,N):(N,1)");
  EXPECT_EQ(to_string(upcast("(M,8*N):(8*N,1)", 8)), "(M,N):(N,1)");
  EXPECT_EQ(to_string(upcast("(M,N):(8*K,1)", 4)), "(M,ceil_div(N,4)):(2*K,1)");
  EXPECT_EQ(to_string(downcast("(M,N):(N,1)", 2)), "(M,2*N):(2*N,1)");
  EXPECT_EQ(code_of([] { (void)upcast("(M,N):(N,1)", 2); }), ErrorCode::unsupported);
  EXPECT_EQ(code_of([] { (void)domain_distribute("M", 2); }), ErrorCode::unsupported);
  EXPECT_EQ(code_of([] {
              (void)tile_to_shape("(8,8):(8,1)", IntTuple{"M", "N"});
            }),
            ErrorCode::unsupported);
}

TEST(LayoutFunctions, RefuseBadNumbers) {
  const Layout layout = "(4,8):(8,1)";
  using enum ErrorCode;
  EXPECT_EQ(code_of([&] { (void)upcast(layout, 0); }), invalid_argument);
  EXPECT_EQ(code_of([&] { (void)upcast(layout, -2); }), invalid_argument);
  EXPECT_EQ(code_of([&] { (void)upcast(layout, 3); }), invalid_layout);
  EXPECT_EQ(code_of([&] { (void)downcast(layout, 0); }), invalid_argument);
  EXPECT_EQ(code_of([&] { (void)downcast(layout, std::int64_t{1} << 61); }), unsupported);
  EXPECT_EQ(code_of([] { (void)downcast("4:2", 2); }), invalid_layout);
  EXPECT_EQ(code_of([&] { (void)recast_layout(layout, 0, 8); }), invalid_argument);
  EXPECT_EQ(code_of([] { (void)domain_distribute(8, 0); }), invalid_argument);
  EXPECT_EQ(code_of([] { (void)domain_distribute(0, 8); }), unsupported);
  EXPECT_EQ(code_of([&] { (void)filter(layout, IntTuple{1, 1, 1}); }), invalid_layout);
  EXPECT_EQ(code_of([&] { (void)filter_zeros(layout, IntTuple{{0, 0}, 1}); }), invalid_layout);
  EXPECT_EQ(code_of([&] { (void)tile_to_shape(layout, 32); }), invalid_layout);
  EXPECT_EQ(code_of([&] { (void)tile_to_shape(layout, IntTuple{4, 12}); }), invalid_layout);
  EXPECT_EQ(code_of([&] {
              (void)tile_to_shape(layout, IntTuple{8, 8}, IntTuple{0, 1, 2});
            }),
            invalid_layout);
}

}  // namespace
}  // namespace tilejit
