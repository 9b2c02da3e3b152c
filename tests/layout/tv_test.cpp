#include "tilejit/tv.hpp"

#include <gtest/gtest.h>

#include "layout/random_layouts.hpp"
#include "tilejit/error.hpp"

namespace tilejit {
namespace {

class ThreadValues : public RandomLayouts {};

TEST_F(ThreadValues, ReachEveryElementOfTheTileOnce) {
  for (int n = 0; n < 500; ++n) {
    const Layout thr = compact_layout(random_shape(static_cast<int>(pick(1, 3)), 4));
    const Layout val = compact_layout(random_shape(static_cast<int>(pick(1, 3)), 3));
    const LayoutTV tv = make_layout_tv(thr, val);
    SCOPED_TRACE(to_string(thr) + " " + to_string(val) + " -> " + to_string(tv.layout_tv));
    const std::int64_t threads = size(thr).value();
    ASSERT_EQ(size(mode(tv.layout_tv, 0)), size(thr));
    ASSERT_EQ(size(mode(tv.layout_tv, 1)), size(val));
    ASSERT_TRUE(is_compact(tv.layout_tv));
    for (std::int64_t i = 0; i < size(tv.layout_tv).value(); ++i) {
      const std::int64_t element = value_at(tv.layout_tv, i);
      ASSERT_LT(element, product(tv.tiler).value());
      ASSERT_EQ(value_at(tv.layout_mn, element), i % threads + threads * (i / threads));
    }
  }
}

TEST(ThreadValue, NeedsCompactLayouts) {
  EXPECT_THROW((void)make_layout_tv("(4,8):(1,8)", "2:1"), Error);
  EXPECT_THROW((void)make_layout_tv("(4,8):(8,1)", "2:0"), Error);
  EXPECT_THROW((void)make_layout_tv("(4,8):(8,1)", "?:2"), Error);
}

struct Conflicts {
  const char *name, *tv, *shared;
  int access_bytes, element_bytes;
  std::int64_t wavefronts, ideal;
};

constexpr Conflicts kConflicts[] = {
    {"32x32 f32 by row", "(32,1):(32,0)", "(32,32):(32,1)", 4, 4, 1, 1},
    {"by column: 32-way", "(32,1):(1,0)", "(32,32):(32,1)", 4, 4, 32, 1},
    {"all columns", "(32,32):(1,32)", "(32,32):(32,1)", 4, 4, 1024, 32},
    {"all columns, swizzled", "(32,32):(1,32)", "Sw<5,0,5> o 0 o (32,32):(32,1)", 4, 4, 32, 32},
    {"all rows, swizzled", "(32,32):(32,1)", "Sw<5,0,5> o 0 o (32,32):(32,1)", 4, 4, 32, 32},
    {"all columns, padded rows", "(32,32):(1,32)", "(32,32):(33,1)", 4, 4, 32, 32},
    {"stride of two words", "(32,1):(2,0)", "64:1", 4, 4, 2, 1},
    {"broadcast", "(32,1):(0,0)", "64:1", 4, 4, 1, 1},
    {"halves of words", "(32,1):(1,0)", "64:1", 2, 2, 1, 1},
    {"bytes of a word", "(32,1):(1,0)", "64:1", 1, 1, 1, 1},
    {"rows of 16 bytes, 8x64 f16", "((8,4),8):((1,64),8)", "(8,64):(64,1)", 16, 2, 32, 4},
    {"so, Sw<3,3,3>", "((8,4),8):((1,64),8)", "Sw<3,3,3> o 0 o (8,64):(64,1)", 16, 2, 4, 4},
    {"so, swizzled by bytes", "((8,4),8):((1,64),8)", "Sw<3,4,3> o 0 o (8,64):(64,1)", 16, 2, 8, 4},
    {"16 bytes a thread in order", "(32,4):(4,1)", "128:1", 16, 4, 4, 4},
    {"8 bytes a thread in order", "(32,2):(2,1)", "64:1", 8, 4, 2, 2},
    {"8 bytes, two words apart", "(32,2):(4,1)", "128:1", 8, 4, 4, 2},
    {"f64 in order", "(32,1):(1,0)", "32:1", 8, 8, 2, 2},
    {"16 threads", "(16,1):(32,0)", "512:1", 4, 4, 16, 1},
    {"4 threads of 16 bytes", "(4,4):(32,1)", "128:1", 16, 4, 4, 1},
    {"the first warp of two", "(64,1):(1,0)", "64:1", 4, 4, 1, 1},
    {"two accesses a thread", "(32,2):(1,32)", "64:1", 4, 4, 2, 2},
};

TEST(BankConflicts, AreCountedAsTheBanksServe) {
  for (const Conflicts& row : kConflicts) {
    SCOPED_TRACE(row.name);
    const BankConflicts found = bank_conflicts(row.tv, parse_composed_layout(row.shared),
                                               row.access_bytes, row.element_bytes);
    EXPECT_EQ(found.wavefronts, row.wavefronts);
    EXPECT_EQ(found.ideal_wavefronts, row.ideal);
    EXPECT_EQ(found.conflict_free(), row.wavefronts == row.ideal);
  }
}

TEST(BankConflicts, RefusesBadInput) {
  struct Row {
    const char *name, *tv, *shared;
    int access_bytes, element_bytes;
    ErrorCode code;
  };
  using enum ErrorCode;
  constexpr Row kRows[] = {
      {"3 bytes", "(32,1):(1,0)", "64:1", 3, 1, invalid_argument},
      {"32 bytes", "(32,8):(8,1)", "256:1", 32, 4, invalid_argument},
      {"no bytes", "(32,1):(1,0)", "64:1", 0, 1, invalid_argument},
      {"negative", "(32,1):(1,0)", "64:1", -4, 4, invalid_argument},
      {"half an element", "(32,1):(1,0)", "64:1", 2, 4, invalid_argument},
      {"elements of 3 bytes", "(32,1):(1,0)", "64:1", 4, 3, invalid_argument},
      {"one mode", "32:1", "64:1", 4, 4, invalid_layout},
      {"three modes", "(32,1,1):(1,0,0)", "64:1", 4, 4, invalid_layout},
      {"values apart", "(32,2):(1,32)", "64:1", 8, 4, invalid_layout},
      {"values apart in memory", "(32,2):(2,1)", "64:2", 8, 4, invalid_layout},
      {"not aligned", "(31,2):(2,1)", "Sw<0,0,0> o 1 o 64:1", 8, 4, invalid_layout},
      {"half an access", "(32,3):(4,1)", "128:1", 8, 4, invalid_layout},
      {"outside of the tile", "(32,1):(3,0)", "64:1", 4, 4, invalid_layout},
      {"too many values", "(32,8192):(1,32)", "262144:1", 4, 4, unsupported},
      {"symbol", "(M,1):(1,0)", "64:1", 4, 4, unsupported},
      {"unknown", "(32,1):(1,0)", "(?,4):(4,1)", 4, 4, unsupported},
      {"empty", "(0,1):(1,0)", "64:1", 4, 4, unsupported},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    try {
      (void)bank_conflicts(row.tv, parse_composed_layout(row.shared), row.access_bytes,
                           row.element_bytes);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), row.code) << error.what();
    }
  }
}

// Only the part of a huge tile that the warp touches is examined.
TEST(BankConflicts, CostNothingForHugeTiles) {
  const ComposedLayout shared = parse_composed_layout("(1073741824,1073741824):(1073741824,1)");
  EXPECT_EQ(bank_conflicts("(1073741824,1):(1,0)", shared, 4, 4).wavefronts, 32);
}

}  // namespace
}  // namespace tilejit
