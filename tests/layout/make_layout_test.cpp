// Layouts and tuples made and rearranged, beyond CuTe's test vectors.
#include <gtest/gtest.h>

#include <unordered_map>
#include <unordered_set>

#include "layout/refusals.hpp"
#include "tilejit/layout_algebra.hpp"

namespace tilejit {
namespace {

IntTuple tuple(const char* text) {
  return parse_int_tuple(text);
}

TEST(MakeLayout, OrdersCoarselyAndWithSymbols) {
  struct Row {
    const char *shape, *order, *stride;
  };
  constexpr Row kRows[] = {
      {"((2,3),4)", "(1,0)", "((4,8),1)"},           {"((2,3),(4,5))", "(7,3)", "((20,40),(1,4))"},
      {"((2,1),4)", "(0,1)", "((1,0),2)"},           {"(2,3,4)", "5", "(1,2,6)"},
      {"(2,3)", "(9223372036854775807,0)", "(3,1)"}, {"(M,(N,K))", "(1,0)", "(K*N,(1,N))"},
      {"(M,N,K)", "(N*K,K,1)", "(K*N,K,1)"},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.shape);
    EXPECT_EQ(to_string(make_ordered_layout(tuple(row.shape), tuple(row.order)).stride()),
              row.stride);
  }
}

TEST(MakeLayout, FollowsOtherLayouts) {
  EXPECT_EQ(to_string(make_layout_like("(M,N):(2*N,1)")), "(M,N):(N,1)");
  EXPECT_EQ(to_string(make_layout_like("(2,3,4,5):(0,42,1,0)")), "(2,3,4,5):(0,4,1,0)");
  EXPECT_EQ(to_string(make_fragment_like("(M,4):(4,1)")), "(M,4):(1,M)");
  EXPECT_EQ(to_string(make_fragment_like("8:3")), "8:1");
  EXPECT_EQ(to_string(make_identity(tuple("(2,(3,4))"))), "(2,(3,4)):(1,(2,6))");
  EXPECT_EQ(to_string(row_major(tuple("(M,4)"), 2)), "(M,4):(8,2)");
}

TEST(MakeLayout, RearrangesModes) {
  const Layout layout("(2,(3,M),4):(1,(8,24),2)");
  EXPECT_EQ(to_string(get(layout, {1, 1})), "M:24");
  EXPECT_EQ(get(layout, {}), layout);
  EXPECT_EQ(to_string(get(layout, {0, 0, 0})), "2:1");
  EXPECT_EQ(to_string(select(layout, {2, 0, 2})), "(4,2,4):(2,1,2)");
  EXPECT_EQ(to_string(select("8:1", {0})), "(8):(1)");
  EXPECT_EQ(to_string(take("8:1", 0, 1)), "(8):(1)");
  EXPECT_EQ(to_string(group(layout, 1, 3)), "(2,((3,M),4)):(1,((8,24),2))");
  EXPECT_EQ(to_string(append("8:1", 3)), "(8,1,1):(1,0,0)");
  EXPECT_EQ(to_string(prepend("(8):(1)", 2, "2:8")), "(2,8):(8,1)");
  EXPECT_EQ(to_string(append("8:1", 1)), "8:1");
  EXPECT_EQ(to_string(replace("8:1", 0, "(2):(3)")), "(2):(3)");
  EXPECT_EQ(unflatten(flatten(layout), layout.shape()), layout);
  EXPECT_EQ(to_string(flatten(Layout("8:1"))), "8:1");
  EXPECT_EQ(make_layout({mode(layout, 0), mode(layout, 1), mode(layout, 2)}), layout);
}

TEST(MakeLayout, RefusesModesThatAreNotThere) {
  const Layout layout("(2,3):(1,2)");
  const auto kMost = static_cast<std::size_t>(-1);
  using enum ErrorCode;
  const Refusal rows[] = {
      {"get", "no mode 2", invalid_layout, [&] { (void)get(layout, {2}); }},
      {"get of a leaf", "no mode 1", invalid_layout,
       [&] {
         (void)get(layout, {0, 1});
       }},
      {"select", "no mode 7", invalid_layout,
       [&] {
         (void)select(layout, {0, 7});
       }},
      {"select none", "at least one", invalid_layout,
       [&] { (void)select(layout, std::span<const std::size_t>()); }},
      {"make none", "at least one", invalid_layout,
       [] { (void)make_layout(std::span<const Layout>()); }},
      {"take", "of rank 2", invalid_layout, [&] { (void)take(layout, 1, 3); }},
      {"take none", "take", invalid_layout, [&] { (void)take(layout, 1, 1); }},
      {"take backwards", "take", invalid_layout, [&] { (void)take(layout, 2, 1); }},
      {"group", "group", invalid_layout, [&] { (void)group(layout, 0, kMost); }},
      {"group none", "group", invalid_layout, [&] { (void)group(layout, 1, 1); }},
      {"replace", "replace", invalid_layout, [&] { (void)replace(layout, 2, layout); }},
      {"replace far", "replace", invalid_layout, [&] { (void)replace(layout, kMost, layout); }},
      {"append", "of rank 2", invalid_layout, [&] { (void)append(layout, 1); }},
      {"append much", "at most 1024", invalid_layout, [&] { (void)append(layout, kMost); }},
      {"prepend", "of rank 2", invalid_layout, [&] { (void)prepend(layout, 1); }},
      {"unflatten", "has 3 leaves for 2", invalid_layout,
       [&] {
         (void)unflatten(layout, {0, {0, 0}});
       }},
      {"order", "not nested as", invalid_layout,
       [] {
         (void)make_ordered_layout(8, {0, 1});
       }},
      {"order of symbols", "no certain order", unsupported,
       [] { (void)make_layout_like("(2,3):(M,N)"); }},
      {"order of unknowns", "no certain order", unsupported,
       [] { (void)make_layout_like("(2,3):(?,?)"); }},
      {"overflow", "2^63-1", unsupported,
       [] {
         (void)make_ordered_layout({std::int64_t{1} << 62, 4, 8}, {0, 1, 2});
       }},
  };
  expect_refused(rows);
}

TEST(IntTuple, DividesTuples) {
  EXPECT_EQ(to_string(round_up(tuple("(5,(7,8),9)"), tuple("(4,(3))"))), "(8,(9,8),9)");
  EXPECT_EQ(to_string(round_up(7, "M")), "M*ceil_div(7,M)");
  EXPECT_EQ(to_string(ceil_div(IntTuple(100), tuple("(3,(2,2))"))), "9");
  EXPECT_EQ(to_string(ceil_div(tuple("(M,8)"), tuple("(4)"))), "(ceil_div(M,4),8)");
  EXPECT_EQ(to_string(ceil_div(tuple("(8,M)"), 4)), "(2,M)");
  EXPECT_EQ(to_string(shape_div(tuple("(8*M,4)"), tuple("(4,8)"))), "(2*M,1)");
  EXPECT_EQ(to_string(shape_div(0, 5)), "0");
  EXPECT_EQ(to_string(product_each(tuple("((M,2),(3,4),5)"))), "(2*M,12,5)");
  EXPECT_EQ(to_string(flatten(tuple("((1,(2)),3)"))), "(1,2,3)");
  EXPECT_EQ(to_string(unflatten(tuple("(1,(2),3)"), tuple("(0,(0,0))"))), "(1,((2),3))");
}

TEST(IntTuple, ComparesSymbolsWhereThatIsCertain) {
  EXPECT_TRUE(compatible(tuple("(2*M,3)"), tuple("((M,2),(3))")));
  EXPECT_FALSE(compatible(tuple("M"), tuple("N")));
  EXPECT_FALSE(compatible(tuple("?"), tuple("?")));
  EXPECT_TRUE(lex_less(tuple("(M,1)"), tuple("(M,2)")));
  EXPECT_TRUE(colex_less(tuple("(7,1)"), tuple("(M,2)")));
  EXPECT_TRUE(lex_less(tuple("(1,2)"), tuple("(1,2,0)")));
  EXPECT_TRUE(colex_less(tuple("(1,2)"), tuple("(9,1,2)")));
  EXPECT_FALSE(elem_less(tuple("(1,2)"), tuple("(9)")));
  EXPECT_TRUE(elem_less(tuple("(1)"), tuple("(9,0)")));
  EXPECT_TRUE(evenly_divides(tuple("(8,M)"), {4, Underscore{}}));
  // Like CuTe's ceil_div of a shape by a layout or by an integer: mode by mode.
  EXPECT_FALSE(evenly_divides(tuple("(8,9,4)"), Layout("3:1")));
  EXPECT_TRUE(evenly_divides(tuple("(8,9,4)"), Layout("4:1")));
  EXPECT_TRUE(evenly_divides(tuple("288"), Layout("3:1")));
}

TEST(IntTuple, RefusesWhatDoesNotFitTogether) {
  using enum ErrorCode;
  const IntTuple two = {4, 8}, three = {1, 2, 3}, huge = {std::int64_t{1} << 62, 4};
  const Refusal rows[] = {
      {"ceil_div", "rank 2 and (1,2,3) of rank 3", invalid_layout,
       [&] { (void)ceil_div(two, three); }},
      {"ceil_div by 0", "", invalid_layout, [&] { (void)ceil_div(two, 0); }},
      {"shape_div", "of rank 3", invalid_layout, [&] { (void)shape_div(two, three); }},
      {"shape_div by 0", "4 and 0 do not divide", invalid_layout, [&] { (void)shape_div(two, 0); }},
      {"shape_div open", "need not divide", unsupported, [&] { (void)shape_div("M", 4); }},
      {"round_up", "of rank 1", invalid_layout, [&] { (void)round_up(two, 4); }},
      {"product_like", "of rank", invalid_layout, [&] { (void)product_like(two, three); }},
      {"product_like of a leaf", "of rank", invalid_layout, [&] { (void)product_like(4, two); }},
      {"overflow", "2^63-1", unsupported,
       [&] {
         (void)product_each({huge, 1});
       }},
      {"overflow of sizes", "2^63-1", unsupported, [&] { (void)compatible(4, huge); }},
      {"order of unlike", "no order", invalid_layout,
       [&] {
         (void)lex_less(two, {4, {1}});
       }},
      {"open order", "no certain order", unsupported, [&] { (void)elem_less("M", 4); }},
      {"unflatten", "2 leaves for 3", invalid_layout, [&] { (void)unflatten(three, two); }},
  };
  expect_refused(rows);
}

TEST(Hash, IsTheSameForEqualValues) {
  std::unordered_map<Layout, int> known;
  const char* texts[] = {"8:1",         "(8):(1)",     "(8,4):(1,8)",   "(4,8):(1,8)",
                         "(M,4):(4,1)", "(N,4):(4,1)", "(2*M,4):(4,1)", "((8,4),2):((1,8),32)"};
  for (const char* text : texts) ++known[text];
  for (const char* text : texts) ++known[Layout(text)];
  EXPECT_EQ(known.size(), std::size(texts));
  for (const auto& [layout, times] : known) EXPECT_EQ(times, 2) << to_string(layout);

  std::unordered_set<Dim> dims = {"M", parse_dim("N*M"), 4, 1};
  EXPECT_TRUE(dims.contains(Dim("M") * "N"));
  EXPECT_TRUE(dims.contains(4));
  EXPECT_FALSE(dims.contains(Dim("M") * 4));
  std::unordered_set<IntTuple> tuples = {{1, {2, 3}}, {1, 2, 3}};
  EXPECT_TRUE(tuples.contains(tuple("(1,(2,3))")));
  EXPECT_FALSE(tuples.contains(tuple("((1,2),3)")));
  EXPECT_NE(std::hash<IntTuple>{}(tuple("(1,2)")), std::hash<IntTuple>{}(tuple("(2,1)")));
}

}  // namespace
}  // namespace tilejit
