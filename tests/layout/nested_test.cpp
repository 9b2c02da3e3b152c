#include "tilejit/nested.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tilejit/int_tuple.hpp"

namespace tilejit {
namespace {

TEST(SmallVector, KeepsItsValuesOnTheHeapToo) {
  SmallVector<int, 4> values;
  for (int i = 0; i < 100; ++i) values.push_back(i);
  SmallVector<int, 4> copy = values, few;
  few.push_back(7);
  EXPECT_EQ(copy, values);
  copy = few;
  EXPECT_EQ(copy, few);
  SmallVector<int, 4> moved = std::move(values);
  EXPECT_EQ(moved.size(), 100u);
  EXPECT_EQ(moved.back(), 99);
  EXPECT_TRUE(values.empty());  // NOLINT: moved from, and specified
  moved = std::move(few);
  ASSERT_EQ(moved.size(), 1u);
  EXPECT_EQ(moved[0], 7);
  moved.pop_back();
  EXPECT_TRUE(moved.empty());
}

TEST(Nested, FindsItsModes) {
  const IntTuple tuple = {2, {3, {4, 5}}, 6};
  EXPECT_EQ(tuple.rank(), 3u);
  EXPECT_EQ(tuple.depth(), 3u);
  EXPECT_EQ(tuple.leaves().size(), 5u);
  EXPECT_EQ(tuple.mode(0), IntTuple(2));
  EXPECT_EQ(tuple.mode(1), (IntTuple{3, {4, 5}}));
  EXPECT_EQ(tuple.mode(1).mode(1), (IntTuple{4, 5}));
  EXPECT_EQ(tuple.mode(2), IntTuple(6));
  EXPECT_EQ(IntTuple(4).mode(0), IntTuple(4));
  std::vector<std::string> modes;
  tuple.for_each_mode([&](const IntTuple& mode) { modes.push_back(to_string(mode)); });
  EXPECT_EQ(modes, (std::vector<std::string>{"2", "(3,(4,5))", "6"}));
}

TEST(Nested, TellsALeafFromATupleOfOne) {
  EXPECT_FALSE(IntTuple(4) == IntTuple::tuple(std::vector<IntTuple>{4}));
  EXPECT_EQ(to_string(IntTuple::tuple(std::vector<IntTuple>{4})), "(4)");
  EXPECT_EQ(IntTuple::empty_tuple().rank(), 0u);
  EXPECT_EQ(IntTuple::empty_tuple().depth(), 1u);
}

TEST(Nested, MapsLeavesInOrder) {
  int next = 0;
  const Nested<int> numbers =
      parse_int_tuple("(8,(8,8),8)").map([&](const Dim&) { return next++; });
  EXPECT_EQ(numbers, (Nested<int>{0, {1, 2}, 3}));
  EXPECT_TRUE(numbers.congruent_to(parse_int_tuple("(1,(1,1),1)")));
  EXPECT_FALSE(numbers.congruent_to(parse_int_tuple("(1,(1,(1)),1)")));
}

TEST(Nested, SpillsBeyondEightLeaves) {
  IntTuple tuple = IntTuple::empty_tuple();
  for (int i = 0; i < 50; ++i) tuple.append({i, {i, i}});
  const IntTuple copy = tuple;
  EXPECT_EQ(copy.mode(49), (IntTuple{49, {49, 49}}));
  EXPECT_EQ(parse_int_tuple("(1,2,3,4,5,6,7,8,9,10)").leaves()[9], Dim(10));
}

}  // namespace
}  // namespace tilejit
