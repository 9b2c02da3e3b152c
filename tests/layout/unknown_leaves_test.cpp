// Layouts with unknown leaves: the answers of CuTe DSL (tests/data/layout/make_unknown.py) and,
// filled in, the functions of known leaves.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "layout/random_layouts.hpp"
#include "support/source_dir.hpp"
#include "tilejit/error.hpp"
#include "tilejit/layout_algebra.hpp"

namespace tilejit {
namespace {

using Json = nlohmann::json;

Tiler tiler_from(const Json& json) {
  if (json.is_number()) return json.get<std::int64_t>();
  std::vector<Tiler> modes;
  for (const Json& mode : json) modes.push_back(tiler_from(mode));
  return modes;
}

Layout layout_from(const Json& json) {
  return json.get<std::string>();
}

using Answer = std::function<Layout(const Json& in)>;

Answer divided(Layout (*operation)(const Layout&, const Tiler&)) {
  return [operation](const Json& in) {
    return operation(layout_from(in["layout"]), tiler_from(in["tiler"]));
  };
}

TEST(UnknownLeaves, AsCuteDslPrintsThem) {
  const std::map<std::string, Answer> answers = {
      {"coalesce", [](const Json& in) { return coalesce(layout_from(in["layout"])); }},
      {"filter_zeros", [](const Json& in) { return filter_zeros(layout_from(in["layout"])); }},
      {"complement",
       [](const Json& in) {
         return complement(layout_from(in["layout"]), in["cotarget"].get<std::int64_t>());
       }},
      {"composition",
       [](const Json& in) {
         return composition(layout_from(in["a"]), layout_from(in["b"]), Exactness::as_cute);
       }},
      {"composition_tiler",
       [](const Json& in) {
         return composition(layout_from(in["a"]), tiler_from(in["tiler"]), Exactness::as_cute);
       }},
      {"logical_divide", divided(logical_divide)},
      {"zipped_divide", divided(zipped_divide)},
      {"tiled_divide", divided(tiled_divide)},
      {"flat_divide", divided(flat_divide)},
      {"make_layout",
       [](const Json& in) {
         return column_major(parse_int_tuple(in["shape"].get<std::string>()));
       }},
  };
  std::ifstream file(test::source_dir() / "tests/data/layout/unknown.json");
  const Json data = Json::parse(file);
  EXPECT_GT(data["cases"].size(), 200u);
  for (const Json& one : data["cases"]) {
    SCOPED_TRACE(one.dump());
    try {
      const Layout answer = answers.at(one["op"])(one["in"]);
      EXPECT_EQ(to_string(answer), one["out"]["text"].get<std::string>());
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

TEST(UnknownLeaves, FilledInKeepTheModesThatWereNotKnown) {
  const Layout unknown = composition("(A,B):(C,D)", "(E,F):(G,H)");
  const SymbolValues values = {{"A", 10}, {"B", 2}, {"C", 16}, {"D", 4},
                               {"E", 5},  {"F", 4}, {"G", 1},  {"H", 5}};
  EXPECT_EQ(to_string(substitute(unknown, values)), "((5,1),(2,2)):((16,4),(80,4))");
  EXPECT_EQ(to_string(composition("(10,2):(16,4)", "(5,4):(1,5)")), "(5,(2,2)):(16,(80,4))");
  EXPECT_EQ(to_string(composition("(?,?):(?,?)", "(?,?):(?,?)")), "((?,?),(?,?)):((?,?),(?,?))");
}

// Cases in which CuTe C++ has dynamic integers of these values; unknown ones as the DSL prints
// them.
TEST(UnknownLeaves, AreKeptApartAsInCute) {
  EXPECT_EQ(to_string(make_ordered_layout(parse_int_tuple("(?{div=2},4,16,2)"), {1, 2, 3, 0})),
            "(?{div=2},4,16,2):(2,?{div=4},?{div=16},1)");
  EXPECT_EQ(to_string(complement("1:0", parse_int_tuple("(2,?)"))), "(2,?):(1,2)");
  EXPECT_EQ(to_string(coalesce("(2,1,?):(1,?,4)")), "(2,?):(1,4)");
  const Layout split = composition("(A,B):(C,D)", "(4):(1)");
  EXPECT_EQ(to_string(substitute(split, {{"A", 12}, {"B", 3}, {"C", 1}, {"D", 24}})),
            "((4,1)):((1,24))");
}

TEST(UnknownLeaves, SymbolsStayWhereTheAnswerIsAProduct) {
  EXPECT_EQ(to_string(coalesce("(M,N):(1,M)")), "M*N:1");
  EXPECT_EQ(to_string(coalesce("(M,N):(N,1)")), "(M,N):(N,1)");
  EXPECT_EQ(to_string(right_inverse("(M,N):(N,1)")), "(N,M):(M,1)");
  EXPECT_EQ(to_string(logical_divide("8*M:1", 4)), "(4,2*M):(1,4)");
  EXPECT_EQ(to_string(logical_divide("M:1", 128)), "(128,ceil_div(M,128)):(1,128)");
}

class Filled : public RandomLayouts {
 protected:
  /// Some leaves become symbols, whose values are kept in `values_`.
  Layout hidden(const Layout& layout) {
    const auto hide = [&](const Dim& known) {
      if (pick(0, 1) == 0 || known.is(0)) return known;
      std::string name = "s";
      name += std::to_string(values_.size());
      values_[name] = known.value();
      return Dim(name);
    };
    return layout.modes().map([&](const Mode& mode) {
      return Mode{hide(mode.extent), hide(mode.stride)};
    });
  }
  /// Whether `answer`, for hidden layouts and filled in, was compared with `expected` for known
  /// ones.
  bool is_same(const std::function<Layout()>& expected, const std::function<Layout()>& answer) {
    Layout known, filled;
    try {
      known = expected();
      filled = substitute(answer(), values_);
    } catch (const Error&) {
      return false;  // no answer, or a quotient that turns out not to be exact
    }
    SCOPED_TRACE(to_string(known) + " and " + to_string(filled));
    EXPECT_EQ(size(filled), size(known));
    for (std::int64_t i = 0; i < std::min(size(known).value(), size(filled).value()); ++i) {
      EXPECT_EQ(value_at(filled, i), value_at(known, i));
    }
    return true;
  }

  SymbolValues values_;
};

// If nothing on the left merges: modes that are known to merge may divide where their parts do not,
// and modes that are not known to merge are assumed to divide.
TEST_F(Filled, AreTheFunctionsOfKnownLeaves) {
  int compositions = 0, divisions = 0, coalesced = 0;
  for (int n = 0; n < kCases && !HasFailure(); ++n) {
    values_.clear();
    const Layout a = random_layout(static_cast<int>(pick(1, 3)), 8);
    const Layout b = random_layout(static_cast<int>(pick(1, 2)), 8);
    const Layout hidden_a = hidden(a), hidden_b = hidden(b);
    SCOPED_TRACE(to_string(a) + " is " + to_string(hidden_a) + ", " + to_string(b) + " is " +
                 to_string(hidden_b));
    coalesced += is_same([&] { return coalesce(a); }, [&] { return coalesce(hidden_a); });
    if (coalesce(a).leaves().size() != a.leaves().size()) continue;
    const std::int64_t tile = pick(1, 8);
    compositions +=
        is_same([&] { return composition(a, b); }, [&] { return composition(hidden_a, hidden_b); });
    divisions += is_same([&] { return logical_divide(a, tile); },
                         [&] { return logical_divide(hidden_a, tile); });
  }
  EXPECT_GT(compositions, kCases / 20);
  EXPECT_GT(divisions, kCases / 20);
  EXPECT_EQ(coalesced, kCases);
}

}  // namespace
}  // namespace tilejit
