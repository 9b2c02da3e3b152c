// Names that the user may have meant.
#include "core/suggestion.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace tilejit::core {
namespace {

TEST(Suggestion, FindsSlipsOfTheHand) {
  constexpr std::array<std::string_view, 6> kKnown = {"M",     "scale",       "formula",
                                                      "alpha", "composition", "rank"};
  struct Row {
    std::string_view name, nearest;
  };
  constexpr Row kRows[] = {
      {"scal", "scale"},
      {"Scale", "scale"},
      {"formulae", "formula"},
      {"rnak", "rank"},
      {"m", "M"},
      {"N", ""},
      {"ran", "rank"},
      {"tank", "rank"},
      {"tans", ""},
      {"compositoin", "composition"},
      {"beta", ""},
      {"alhpa", "alpha"},
      {"frobnicate", ""},
      {"", ""},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(nearest_name(row.name, kKnown), row.nearest);
  }
  EXPECT_EQ(nearest_name(std::string(100000, 'x'), kKnown), "");
}

TEST(Suggestion, KnowsTheDTypesOfOtherLibraries) {
  struct Row {
    std::string_view name, ours;
  };
  constexpr Row kRows[] = {
      {"float16", "f16"},
      {"fp16", "f16"},
      {"float32", "f32"},
      {"half", "f16"},
      {"F16", "f16"},
      {"bf61", "bf16"},
      {"float8_e5m2", "f8e5m2"},
      {"f33", ""},
      {"f12", ""},
      {"quad", ""},
      {"", ""},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(nearest_dtype(row.name), row.ours);
  }
}

TEST(Suggestion, IsASentence) {
  EXPECT_EQ(did_you_mean("scale"), "; did you mean 'scale'?");
  EXPECT_EQ(did_you_mean(""), "");
}

}  // namespace
}  // namespace tilejit::core
