#include "tilejit/indexing.hpp"

#include <gtest/gtest.h>

#include <random>
#include <unordered_set>

#include "layout/refusals.hpp"

namespace tilejit {
namespace {

class Coordinates : public testing::Test {
 protected:
  static constexpr int kCases = 2000;

  std::int64_t pick(std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>(from, to)(random_);
  }
  IntTuple random_shape(int depth) {
    if (depth == 0 || pick(0, 2) == 0) return pick(1, 4);
    IntTuple shape = IntTuple::empty_tuple();
    for (std::int64_t modes = pick(1, 3); modes > 0; --modes) {
      shape.append(random_shape(depth - 1));
    }
    return shape;
  }
  Layout random_layout() {
    const IntTuple shape = random_shape(3);
    return {shape, shape.map([&](const Dim&) { return Dim(pick(0, 50)); })};
  }
  /// A coordinate of the shape; some of its tuples are given as integers.
  Coordinate random_coordinate(const IntTuple& shape) {
    if (shape.is_leaf() || pick(0, 3) == 0) return pick(0, product(shape).value() - 1);
    auto result = Coordinate::empty_tuple();
    shape.for_each_mode([&](const IntTuple& mode) { result.append(random_coordinate(mode)); });
    return result;
  }
  /// The coordinate with `_` at random leaves. `rest` gets the integers that were there.
  Coordinate opened(const Coordinate& coordinate, Coordinate& rest) {
    if (!coordinate.is_leaf()) {
      auto result = Coordinate::empty_tuple();
      coordinate.for_each_mode([&](const Coordinate& mode) { result.append(opened(mode, rest)); });
      return result;
    }
    if (pick(0, 1) == 0) return coordinate;
    rest.append(coordinate);
    return _;
  }

  unsigned seed_ = std::random_device()();
  std::mt19937 random_{seed_};
  testing::ScopedTrace trace_{__FILE__, __LINE__, "seed " + std::to_string(seed_)};
};

TEST_F(Coordinates, NumbersAndCoordinatesAreOneToOne) {
  for (int n = 0; n < kCases; ++n) {
    const Layout layout = random_layout();
    const IntTuple shape = layout.shape();
    SCOPED_TRACE(to_string(layout));
    for (int k = 0; k < 10; ++k) {
      const std::int64_t i = pick(0, size(layout).value() - 1);
      const Coordinate coordinate = idx2crd(i, shape);
      ASSERT_TRUE(coordinate.congruent_to(shape));
      ASSERT_EQ(crd2idx(coordinate, shape), i);
      ASSERT_EQ(layout(coordinate), layout(i));
      ASSERT_EQ(idx2crd(column_major(shape)(i), shape, column_major(shape).stride()), coordinate);
      ASSERT_EQ(get_1d_coord(row_major(shape)(i), row_major(shape)), i);
    }
  }
}

TEST_F(Coordinates, MixedNestingIsTheSameElement) {
  for (int n = 0; n < kCases; ++n) {
    const Layout layout = random_layout();
    const Coordinate coordinate = random_coordinate(layout.shape());
    SCOPED_TRACE(to_string(layout) + " at " + to_string(coordinate));
    ASSERT_EQ(layout(coordinate), layout(crd2idx(coordinate, layout.shape())));
    ASSERT_EQ(layout(coordinate), layout(idx2crd(coordinate, layout.shape())));
    ASSERT_EQ(crd2idx(coordinate, layout.shape(), layout.stride()), layout(coordinate));
    ASSERT_EQ(parse_coordinate(to_string(coordinate)), coordinate);
  }
}

TEST_F(Coordinates, ASliceIsTheLayoutAtTheOtherIntegers) {
  int sliced = 0;
  for (int n = 0; n < kCases; ++n) {
    const Layout layout = random_layout();
    const Coordinate full = random_coordinate(layout.shape());
    auto rest = Coordinate::empty_tuple();
    const Coordinate open = opened(full, rest);
    SCOPED_TRACE(to_string(layout) + " at " + to_string(open));
    if (open.is_leaf() || rest.rank() == 0) continue;
    ++sliced;
    const Slice result = slice(open, layout);
    ASSERT_EQ(result.layout(rest) + result.offset, layout(full));
    if (rest.leaves().size() == full.leaves().size()) {
      EXPECT_EQ(result.offset, 0);
      EXPECT_THROW((void)dice(open, layout), Error);
    } else {
      ASSERT_EQ(size(dice(open, layout)) * size(result.layout), size(layout));
    }
  }
  EXPECT_GT(sliced, kCases / 4);
}

TEST(Coordinate, IsWrittenAsItReads) {
  EXPECT_EQ(to_string(Coordinate{1, {_, 3}}), "(1,(_,3))");
  for (const char* text : {"0", "_", "(_)", "(1,(_,3))", "((7),_,9223372036854775807)"}) {
    EXPECT_EQ(to_string(parse_coordinate(text)), text);
  }
  EXPECT_EQ(parse_coordinate(" ( 1 , ( _ , 3 ) ) "), (Coordinate{1, {_, 3}}));
  EXPECT_NE(parse_coordinate("4"), parse_coordinate("(4)"));
  const std::unordered_set<Coordinate> set = {{1, _}, {1, 2}, {1, _}};
  EXPECT_EQ(set.size(), 2u);
}

TEST(Coordinate, SlicesAndDices) {
  const Layout layout("(2,(4,4,7)):(16,(1,4,32))");
  EXPECT_EQ(to_string(slice(_, layout).layout), to_string(layout));
  EXPECT_EQ(to_string(slice({1, _}, layout).layout), "((4,4,7)):((1,4,32))");
  EXPECT_EQ(slice({1, _}, layout).offset, 16);
  EXPECT_EQ(to_string(dice({1, _}, layout)), "(2):(16)");
  EXPECT_EQ(to_string(dice({_, {1, _, 3}}, layout)), "(4,7):(1,32)");
  EXPECT_EQ(to_string(dice(5, layout)), to_string(layout));
  EXPECT_EQ(to_string(slice({_, 2}, Layout("(M,4):(1,8)")).layout), "(M):(1)");
}

TEST(Coordinate, GoesOnAlongTheLastMode) {
  EXPECT_EQ(to_string(idx2crd(25, {5, 4})), "(0,5)");
  EXPECT_EQ(crd2idx(11, {4, 2}, {2, 100}), 2 * 3 + 100 * 2);
  EXPECT_EQ(crd2idx({7, 0}, {4, 2}, {2, 100}), 14);
  EXPECT_EQ(to_string(get_flat_coord(3, Layout("(8):(1)"))), "3");
}

TEST(Coordinate, RefusesBadText) {
  struct Row {
    std::string text;
    const char* says;
  };
  const Row rows[] = {
      {"", "position 0"},
      {"(1,2", "',' or ')'"},
      {"()", "an integer"},
      {"(1,,2)", "position 3"},
      {"-1", "not negative"},
      {"_a", "the end"},
      {"M", "an integer"},
      {"99999999999999999999", "2^63-1"},
      {std::string(100'000, '('), "64 levels"},
      {std::string(50'000, '(') + std::string(50'000, ')'), "64 levels"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.text.substr(0, 40));
    try {
      (void)parse_coordinate(row.text);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_layout);
      EXPECT_NE(std::string(error.what()).find(row.says), std::string::npos) << error.what();
      EXPECT_LT(std::string(error.what()).size(), 300u);
    }
  }
}

TEST(Coordinate, RefusesWhatIsNoCoordinateOfTheLayout) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  const Layout layout("(4,(2,3)):(6,(3,1))"), long_one("(2,4):(4611686018427387904,1)");
  using enum ErrorCode;
  const Refusal rows[] = {
      {"rank", "(1,2,3) has 3 modes", invalid_layout,
       [&] {
         (void)layout({1, 2, 3});
       }},
      {"rank named", "takes 2", invalid_layout,
       [&] {
         (void)layout({1, {0, 1, 2}});
       }},
      {"tuple on a leaf", "takes an integer", invalid_layout,
       [&] {
         (void)layout({{1, 1}, 0});
       }},
      {"rank of a slice", "has 3 modes", invalid_layout,
       [&] {
         (void)slice({_, 1, 2}, layout);
       }},
      {"rank of a shape", "has 1 modes", invalid_layout,
       [&] { (void)idx2crd(parse_coordinate("(1)"), layout.shape()); }},
      {"negative", "not negative, found -1", invalid_layout, [&] { (void)layout(-1); }},
      {"negative leaf", "not negative, found -1", invalid_layout,
       [&] {
         (void)layout({-1, 2});
       }},
      {"negative index", "not negative, found -5", invalid_layout,
       [&] { (void)idx2crd(-5, layout.shape()); }},
      {"underscore", "use slice", invalid_layout,
       [&] {
         (void)layout({_, 2});
       }},
      {"underscore alone", "use slice", invalid_layout, [&] { (void)layout(_); }},
      {"no underscore", "use the layout itself", invalid_layout,
       [&] {
         (void)slice({1, 2}, layout);
       }},
      {"nothing to dice", "use an integer", invalid_layout,
       [&] {
         (void)dice({_, _}, layout);
       }},
      {"empty", "has no element", invalid_layout, [] { (void)Layout("(0,4):(4,1)")(1); }},
      {"empty shape", "has no element", invalid_layout,
       [] {
         (void)idx2crd(1, {0, 4});
       }},
      {"stride 0", "stride", invalid_layout,
       [] { (void)get_hier_coord(1, Layout("(2,4):(0,1)")); }},
      {"symbol", "substitute", unsupported,
       [] {
         (void)Layout("(M,4):(4,1)")({1, 1});
       }},
      {"symbolic stride", "substitute", unsupported, [] { (void)Layout("(2,4):(M,1)")(1); }},
      {"symbolic shape", "substitute", unsupported,
       [] {
         (void)idx2crd(1, {"M", 4});
       }},
      {"outside", "coordinate 11 is outside of (4,2):(2,100), which has 8", invalid_layout,
       [] { (void)Layout("(4,2):(2,100)")(11); }},
      {"outside of a mode", "coordinate 7 is outside of 4:2, which has 4", invalid_layout,
       [] {
         (void)Layout("(4,2):(2,100)")({7, 0});
       }},
      {"huge product", "2^63-1", unsupported,
       [&] {
         (void)crd2idx({2, 0}, long_one.shape(), long_one.stride());
       }},
      {"huge sum", "2^63-1", unsupported,
       [&] {
         (void)crd2idx({1, kHuge}, long_one.shape(), long_one.stride());
       }},
      {"huge shape", "2^63-1", unsupported,
       [&] {
         (void)crd2idx({1, 1, 1}, {kHuge, 4, 2});
       }},
  };
  expect_refused(rows);
}

TEST(Coordinate, CostsNothingForHugeSizes) {
  const Layout huge("(1073741824,1073741824):(1073741824,1)");
  const std::int64_t last = size(huge).value() - 1;
  EXPECT_EQ(huge(last), last);
  EXPECT_EQ(huge(idx2crd(last, huge.shape())), last);
  EXPECT_EQ(get_1d_coord(1, huge), 1073741824);
}

}  // namespace
}  // namespace tilejit
