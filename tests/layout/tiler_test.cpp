// Tilers as values, and operations on arguments that are not layouts.
#include <gtest/gtest.h>

#include <unordered_set>

#include "layout/refusals.hpp"
#include "tilejit/layout_algebra.hpp"

namespace tilejit {
namespace {

TEST(Tiler, PrintsWhatItParsed) {
  for (const char* text : {"4", "_", "(3,2):(1,3)", "<3:3,(2,4):(1,8),_>", "<<2,4>,_>", "<8>"}) {
    SCOPED_TRACE(text);
    const Tiler tiler = parse_tiler(text);
    EXPECT_EQ(to_string(tiler), text);
    EXPECT_EQ(parse_tiler(to_string(tiler)), tiler);
  }
  EXPECT_EQ(parse_tiler(" ( 3 , _ ) "), (Tiler{3, _}));
  EXPECT_EQ(parse_tiler("((2,2):(1,4),3)"), (Tiler{Layout("(2,2):(1,4)"), 3}));
  EXPECT_NE(parse_tiler("8"), parse_tiler("8:1"));
  const std::unordered_set<Tiler> seen = {4, _, {3, _}, parse_tiler("<3,_>")};
  EXPECT_EQ(seen.size(), 3u);
}

TEST(Tiler, TextIsATilerWhereOneIsTaken) {
  EXPECT_EQ(to_string(logical_divide("(8,8):(8,1)", "(2,_)")), "((2,4),8):((8,16),1)");
  EXPECT_EQ(to_string(composition("(12,(4,8)):(59,(13,1))", Tiler("(3,8)"))),
            "(3,(4,2)):(59,(13,1))");
  EXPECT_EQ(to_string(composition("(6,2):(8,2)", 3)), "3:8");
}

TEST(Tiler, RefusesBadText) {
  using enum ErrorCode;
  const Refusal rows[] = {
      {"empty", "expected an integer, '_', a layout or '<'", invalid_layout,
       [] { (void)parse_tiler(""); }},
      {"open", "found the end at position 4 of '<2,3'", invalid_layout,
       [] { (void)parse_tiler("<2,3"); }},
      {"mixed brackets", "found ')' at position 4", invalid_layout,
       [] { (void)parse_tiler("<2,3)"); }},
      {"symbol", "'M' is not a known integer", invalid_layout, [] { (void)parse_tiler("<M>"); }},
      {"no mode", "at least one mode", invalid_layout, [] { (void)Tiler(std::vector<Tiler>()); }},
      {"deep", "64 levels", invalid_layout, [] { (void)parse_tiler(std::string(100'000, '<')); }},
  };
  expect_refused(rows);
}

TEST(Layouts, RefuseWhatIsNoLayout) {
  using enum ErrorCode;
  const Refusal rows[] = {
      {"no mode", "at least one mode", invalid_layout,
       [] { (void)Layout(IntTuple::empty_tuple(), IntTuple::empty_tuple()); }},
      {"NUL", "an unprintable byte at position 1", invalid_layout,
       [] { (void)parse_layout(std::string_view("4\0x", 3)); }},
      {"underscore", "found '_' at position 3", invalid_layout,
       [] { (void)parse_layout("(4,_):(1,4)"); }},
      {"underscore as a name", "not '_' alone", invalid_layout, [] { (void)Dim("_"); }},
      {"quotient by 0", "at position 3 of '(4,ceil_div(M,0)):(1,4)'", invalid_layout,
       [] { (void)parse_layout("(4,ceil_div(M,0)):(1,4)"); }},
      {"product", "2^63-1; sizes and offsets are 64-bit at position 1", unsupported,
       [] { (void)parse_layout("(9223372036854775807*2,1):(1,1)"); }},
      {"far", "found '!' at position 92 of '...,1,1,1,1,1,1,1,1,1,1,1,1,1,1,x!,1)'", invalid_layout,
       [] {
         std::string text = "(1";
         for (int i = 0; i < 45; ++i) text += ",1";
         (void)parse_layout(text.substr(0, 91) + "x!,1)");
       }},
      {"unsigned", "at most 2^63-1", invalid_layout, [] { (void)Dim(UINT64_MAX); }},
      {"negative symbol", "symbol 'M' is -5; extents and strides are not negative",
       invalid_argument,
       [] {
         (void)cosize("M:1", {{"M", -5}});
       }},
      {"dividing", "dividing (4,3):(3,1) by 6", invalid_layout,
       [] { (void)logical_divide("(4,3):(3,1)", 6); }},
  };
  expect_refused(rows);
}

TEST(Layouts, AppendThemselves) {
  IntTuple tuple{1, 2, 3, 4, 5, 6, 7, 8, 9};
  tuple.append(tuple);
  EXPECT_EQ(to_string(tuple), "(1,2,3,4,5,6,7,8,9,(1,2,3,4,5,6,7,8,9))");
}

TEST(Layouts, HashesSpread) {
  std::unordered_set<std::size_t> seen;
  for (int extent = 1; extent <= 64; ++extent) {
    for (int stride = 0; stride < 64; ++stride) {
      seen.insert(std::hash<Layout>()(Layout(extent, stride)));
    }
  }
  EXPECT_EQ(seen.size(), 64u * 64u);
}

TEST(Layouts, ManyStepsDoNotOverflow) {
  const Layout a("(4611686018427387904,1):(1,5)");
  const Layout b("(4611686018427387904,4611686018427387904,4611686018427387904):(1,1,1)");
  EXPECT_THROW((void)composition(a, b), Error);
  EXPECT_EQ(composition(a, b, Exactness::as_cute), b);
}

// Faults that symbols hide are refused when the symbols are filled in.
TEST(Layouts, ExactCompositionOfSymbolsIsCheckedWhereTheyAreFilledIn) {
  const Layout answer = composition("(M,3):(1,100)", "6:4");
  EXPECT_EQ(to_string(substitute(answer, {{"M", 12}})), "(3,2):(4,100)");
  EXPECT_THROW((void)substitute(answer, {{"M", 10}}), Error);
}

TEST(Dims, OfManyFunctionsCanBePrintedAndRead) {
  Dim dim = "M";
  for (int i = 0; i < 20; ++i) dim = ceil_div(dim, 3);
  EXPECT_EQ(parse_dim(to_string(dim)), dim);
  EXPECT_FALSE(min(dim * "A", dim * "B").is_unknown());
}

}  // namespace
}  // namespace tilejit
