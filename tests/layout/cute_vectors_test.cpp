// Answers computed by CuTe C++ itself: tests/data/layout/README.md.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "layout/vectors.hpp"
#include "tilejit/error.hpp"

namespace tilejit {
namespace {

using namespace vectors;  // NOLINT: their readers

using Answer = std::function<Layout(const Json& in)>;

Answer tiled(Layout (*operation)(const Layout&, const Tiler&)) {
  return [operation](const Json& in) {
    return operation(layout_from(in["layout"]), tiler_from(in["tiler"]));
  };
}
Answer unary(Layout (*operation)(const Layout&)) {
  return [operation](const Json& in) { return operation(layout_from(in["layout"])); };
}
Answer product(Layout (*operation)(const Layout&, const Layout&)) {
  return [operation](const Json& in) {
    return operation(layout_from(in["block"]), layout_from(in["tiler"]));
  };
}

Answer composed(Exactness exactness) {
  return [exactness](const Json& in) {
    if (in.contains("tiler")) {
      return composition(layout_from(in["a"]), tiler_from(in["tiler"]), exactness);
    }
    return composition(layout_from(in["a"]), layout_from(in["b"]), exactness);
  };
}

const std::map<std::string, Answer>& answers() {
  static const std::map<std::string, Answer> table = {
      {"coalesce",
       [](const Json& in) {
         const Layout layout = layout_from(in["layout"]);
         return in["profile"].is_null() ? coalesce(layout)
                                        : coalesce(layout, tuple_from(in["profile"]));
       }},
      {"composition", composed(Exactness::exact)},
      {"composition_tiler", composed(Exactness::exact)},
      {"complement",
       [](const Json& in) {
         const Layout layout = layout_from(in["layout"]);
         return in["cotarget"].is_null() ? complement(layout)
                                         : complement(layout, tuple_from(in["cotarget"]));
       }},
      {"logical_divide", tiled(logical_divide)},
      {"zipped_divide", tiled(zipped_divide)},
      {"tiled_divide", tiled(tiled_divide)},
      {"flat_divide", tiled(flat_divide)},
      {"logical_product", tiled(logical_product)},
      {"zipped_product", tiled(zipped_product)},
      {"tiled_product", tiled(tiled_product)},
      {"flat_product", tiled(flat_product)},
      {"blocked_product", product(blocked_product)},
      {"raked_product", product(raked_product)},
      {"right_inverse", unary(right_inverse)},
      {"left_inverse", unary(left_inverse)},
  };
  return table;
}

class CuteVectors : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Operations, CuteVectors, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const auto& [name, answer] : answers()) names.push_back(name);
                           return names;
                         }()),
                         [](const auto& info) { return info.param; });

TEST_P(CuteVectors, AreReproduced) {
  const bool refuses_inexact = GetParam().starts_with("composition");
  int seen = 0;
  for (const Json& one : cases_of(GetParam())) {
    if (is_left_out(one)) continue;
    SCOPED_TRACE(one.dump());
    ++seen;
    try {
      const bool inexact = refuses_inexact && has_tag(one, "inexact");
      if (inexact) {
        EXPECT_THROW((void)answers().at(GetParam())(one["in"]), Error);
      }
      const Answer& answer = inexact ? composed(Exactness::as_cute) : answers().at(GetParam());
      EXPECT_EQ(to_string(answer(one["in"])), one["out"]["text"].get<std::string>());
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
  EXPECT_GT(seen, 10);
}

TEST(CuteVectors, Filter) {
  for (const Json& one : cases_of("filter")) {
    if (is_left_out(one) || !one["in"]["profile"].is_null()) continue;
    SCOPED_TRACE(one.dump());
    const Layout layout = layout_from(one["in"]["layout"]);
    const Layout answer = one["in"]["fn"] == "filter" ? filter(layout) : filter_zeros(layout);
    EXPECT_EQ(to_string(answer), one["out"]["text"].get<std::string>());
  }
}

TEST(CuteVectors, WhatCuteRefusesIsRefused) {
  int seen = 0;
  for (const Json& one : cases_of("errors")) {
    const std::string operation = one["in"]["op"];
    if (is_left_out(one) || !answers().contains(operation)) continue;
    SCOPED_TRACE(one.dump());
    ++seen;
    EXPECT_THROW((void)answers().at(operation)(one["in"]), Error);
  }
  EXPECT_GT(seen, 10);
}

}  // namespace
}  // namespace tilejit
