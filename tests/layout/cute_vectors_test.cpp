// Answers computed by CuTe C++ itself: tests/data/layout/README.md.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "layout/vectors.hpp"
#include "tilejit/error.hpp"

namespace tilejit {
namespace {

using namespace vectors;  // NOLINT: their readers

using LayoutAnswer = std::function<Layout(const Json& in)>;

LayoutAnswer tiled(Layout (*operation)(const Layout&, const Tiler&)) {
  return [operation](const Json& in) {
    return operation(layout_from(in["layout"]), tiler_from(in["tiler"]));
  };
}
LayoutAnswer unary(Layout (*operation)(const Layout&)) {
  return [operation](const Json& in) { return operation(layout_from(in["layout"])); };
}
LayoutAnswer product(Layout (*operation)(const Layout&, const Layout&)) {
  return [operation](const Json& in) {
    return operation(layout_from(in["block"]), layout_from(in["tiler"]));
  };
}

LayoutAnswer composed(Exactness exactness) {
  return [exactness](const Json& in) {
    if (in.contains("tiler")) {
      return composition(layout_from(in["a"]), tiler_from(in["tiler"]), exactness);
    }
    return composition(layout_from(in["a"]), layout_from(in["b"]), exactness);
  };
}

const std::map<std::string, LayoutAnswer>& answers() {
  static const std::map<std::string, LayoutAnswer> table = {
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
INSTANTIATE_TEST_SUITE_P(Operations, CuteVectors, testing::ValuesIn(names_of(answers())),
                         [](const auto& info) { return info.param; });

TEST_P(CuteVectors, AreReproduced) {
  const bool refuses_inexact = GetParam().starts_with("composition");
  for_each_case(GetParam(), [&](const Json& one) {
    LayoutAnswer answer = answers().at(GetParam());
    if (refuses_inexact && has_tag(one, "inexact")) {
      EXPECT_THROW((void)answer(one["in"]), Error);
      answer = composed(Exactness::as_cute);
    }
    EXPECT_EQ(to_string(answer(one["in"])), one["out"]["text"].get<std::string>());
  });
}

TEST(CuteVectors, WhatCuteRefusesIsRefused) {
  expect_refusals(answers());
}

}  // namespace
}  // namespace tilejit
