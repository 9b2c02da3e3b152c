// Layouts whose strides are steps of coordinates. CuTe's DSL 4.8 gave the answers.
#include "tilejit/coordinate_layout.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "tilejit/error.hpp"
#include "tilejit/layout_algebra.hpp"
#include "tilejit/layout_functions.hpp"

namespace tilejit {
namespace {

TEST(CoordinateStride, TextStepsAndDimAreOne) {
  const CoordinateStep steps[] = {{1, {0}}, {4, {1}}, {1, {1, 0}}, {7, {2, 0, 31}}, {"N", {0}}};
  const char* const texts[] = {"1@0", "4@1", "1@0@1", "7@31@0@2", "N@0"};
  for (std::size_t i = 0; i < std::size(steps); ++i) {
    SCOPED_TRACE(texts[i]);
    EXPECT_EQ(to_string(coordinate_stride(steps[i])), texts[i]);
    EXPECT_EQ(parse_dim(texts[i]), coordinate_stride(steps[i]));
    EXPECT_EQ(coordinate_step(parse_dim(texts[i])), steps[i]);
  }
  EXPECT_EQ(coordinate_step(4), std::nullopt);
  EXPECT_EQ(coordinate_step("N"), std::nullopt);
}

struct Refused {
  const char* text;
  const char* message;
};

TEST(CoordinateStride, RefusesWhatIsNone) {
  constexpr Refused kRefused[] = {
      {"4:1@", "expected steps along 1 to 8 modes of a coordinate up to 1023, as in 1@0 or 2@0@1"},
      {"4:1@1024", "expected steps along 1 to 8 modes"},
      {"4:1@01", "expected steps along 1 to 8 modes"},
      {"4:1@0@0@0@0@0@0@0@0@0", "expected steps along 1 to 8 modes"},
      {"4:@0", "expected an integer, a symbol or '?', found '@'"},
      {"4@0:1", "the extent 4@0 is a step of a coordinate; only strides are"},
      {"4:1@0*2", "expected the end, found '*'"},
  };
  for (const Refused& row : kRefused) {
    SCOPED_TRACE(row.text);
    try {
      ADD_FAILURE() << to_string(parse_layout(row.text));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_layout);
      EXPECT_NE(std::string(error.what()).find(row.message), std::string::npos) << error.what();
    }
  }
}

struct Answer {
  const char* what;
  std::function<Layout()> answer;
  const char* want;
};

TEST(CoordinateLayout, AlgebraIsThatOfCuTe) {
  const Layout flat = coordinate_layout({4, 2}), nested = coordinate_layout({4, {2, 3}});
  const Layout large = coordinate_layout({256, 512});
  const Tiler tile = parse_tiler("(16,256)");
  const Layout tv("((32,4),(8,4)):((128,4),(16,1))");
  const Answer kAnswers[] = {
      {"identity", [&] { return flat; }, "(4,2):(1@0,1@1)"},
      {"nested identity", [&] { return nested; }, "(4,(2,3)):(1@0,(1@0@1,1@1@1))"},
      {"coalesce", [&] { return coalesce(flat); }, "(4,2):(1@0,1@1)"},
      {"coalesce nested", [&] { return coalesce(nested); }, "(4,2,3):(1@0,1@0@1,1@1@1)"},
      {"coalesce merges", [] { return coalesce("((2,2),4):((1@0,2@0),1@1)"); }, "(4,4):(1@0,1@1)"},
      {"coalesce drops", [] { return coalesce("(4,1,8):(1@0,1@1,4@0)"); }, "32:1@0"},
      {"filter", [] { return filter("(4,1,8):(1@0,1@1,4@0)"); }, "32:1@0"},
      {"zipped_divide", [&] { return zipped_divide(large, tile); },
       "((16,256),(16,2)):((1@0,1@1),(16@0,256@1))"},
      {"tiled_divide", [&] { return tiled_divide(large, tile); },
       "((16,256),16,2):((1@0,1@1),16@0,256@1)"},
      {"flat_divide", [&] { return flat_divide(large, tile); },
       "(16,256,16,2):(1@0,1@1,16@0,256@1)"},
      {"logical_divide", [&] { return logical_divide(large, tile); },
       "((16,16),(256,2)):((1@0,16@0),(1@1,256@1))"},
      {"a tile by threads and values", [&] { return composition("(16,256):(1@0,1@1)", tv); },
       "((32,4),(8,4)):((8@1,4@0),(1@1,1@0))"},
      {"composition", [&] { return composition(large, "(4,3):(64,1)"); }, "(4,3):(64@0,1@0)"},
      {"flatten", [&] { return flatten(nested); }, "(4,2,3):(1@0,1@0@1,1@1@1)"},
      {"coordinates on the right",
       [] { return composition("(4,(2,3)):(6,(3,1))", "(2,4):(1@1@1,1@0)"); }, "(2,4):(1,6)"},
      {"transposed", [] { return composition("(4,4):(4,1)", "(4,4):(1@1,1@0)"); }, "(4,4):(1,4)"},
      {"symbols filled in",
       [] {
         return substitute("(M,N):(1@0,K@1)", {{"M", 4}, {"N", 2}, {"K", 3}});
       },
       "(4,2):(1@0,3@1)"},
  };
  for (const Answer& row : kAnswers) {
    SCOPED_TRACE(row.what);
    EXPECT_EQ(to_string(row.answer()), row.want);
  }
}

TEST(CoordinateLayout, GivesTheCoordinate) {
  const auto at = [](const char* layout, const char* coordinate) {
    return to_string(coordinate_at(layout, parse_coordinate(coordinate)));
  };
  EXPECT_EQ(at("(4,2):(1@0,1@1)", "(3,1)"), "(3,1)");
  EXPECT_EQ(at("(4,(2,3)):(1@0,(1@0@1,1@1@1))", "(3,(1,2))"), "(3,(1,2))");
  EXPECT_EQ(at("(4,(2,3)):(1@0,(1@0@1,1@1@1))", "13"), "(1,(1,1))");
  EXPECT_EQ(at("((32,4),(8,4)):((8@1,4@0),(1@1,1@0))", "(37,9)"), "(5,41)");
  EXPECT_EQ(at("4:1@0", "3"), "(3)");
  EXPECT_EQ(at("4:2@2", "3"), "(0,0,6)");
  EXPECT_EQ(at("(4,2):(1@1,0)", "(3,1)"), "(0,3)");
  EXPECT_THROW((void)at("(4,2):(1@0,1)", "(3,1)"), Error);
  EXPECT_THROW((void)at("(4,2):(1@0,1@0@0)", "(3,1)"), Error);
  EXPECT_THROW((void)at("(4,2):(1@0,1@1)", "(4,1)"), Error);
}

TEST(CoordinateLayout, IsRefusedWhereMemoryIsMeant) {
  const Layout layout = coordinate_layout({4, 2});
  EXPECT_THROW((void)complement(layout, 16), Error);
  EXPECT_THROW((void)right_inverse(layout), Error);
  EXPECT_THROW((void)left_inverse(layout), Error);
  EXPECT_THROW((void)logical_product(layout, 3), Error);
  EXPECT_THROW((void)cosize(layout), Error);
  EXPECT_THROW((void)layout(3), Error);
  EXPECT_THROW((void)upcast(Layout("4:4@0"), 2), Error);
  EXPECT_THROW((void)(parse_dim("1@0") * parse_dim("1@1")), Error);
  EXPECT_THROW((void)parse_dim("?@0"), Error);
}

}  // namespace
}  // namespace tilejit
