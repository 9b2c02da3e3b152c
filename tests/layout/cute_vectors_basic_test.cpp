// Tuples, coordinates, and layouts made and rearranged, as CuTe C++ itself answers:
// tests/data/layout/README.md.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "layout/vectors.hpp"
#include "tilejit/error.hpp"

namespace tilejit {
namespace {

using namespace vectors;  // NOLINT: their readers

Json json_of(const Dim& leaf) {
  return leaf.value();
}
Json json_of(const CoordinateLeaf& leaf) {
  return leaf.value();
}
template <typename Leaf>
Json json_of(const Nested<Leaf>& nested) {
  if (nested.is_leaf()) return json_of(nested.leaf());
  Json modes = Json::array();
  nested.for_each_mode([&](const Nested<Leaf>& mode) { modes.push_back(json_of(mode)); });
  return modes;
}
Json json_of(const Layout& layout) {
  return {{"shape", json_of(layout.shape())},
          {"stride", json_of(layout.stride())},
          {"text", to_string(layout)}};
}

std::vector<std::size_t> numbers(const Json& args) {
  return args.get<std::vector<std::size_t>>();
}

using JsonAnswer = std::function<Json(const Json& in)>;
using JsonAnswers = std::map<std::string, JsonAnswer>;

Json layout_answer(const Json& in) {
  const Layout layout = layout_from(in["layout"]);
  return {{"text", to_string(layout)},
          {"size", size(layout).value()},
          {"cosize", cosize(layout)},
          {"rank", rank(layout)},
          {"depth", depth(layout)}};
}

Json make_layout_answer(const Json& in) {
  const IntTuple shape = tuple_from(in["shape"]);
  const std::int64_t start = in.value("start", 1);
  return json_of(in["order"] == "left" ? column_major(shape, start) : row_major(shape, start));
}

Json make_ordered_layout_answer(const Json& in) {
  if (in["order"].is_string()) return make_layout_answer(in);
  return json_of(make_ordered_layout(tuple_from(in["shape"]), tuple_from(in["order"])));
}

Json make_layout_like_answer(const Json& in) {
  const Layout layout = layout_from(in["layout"]);
  const bool fragment = in["fn"] == "make_fragment_like";
  return json_of(fragment ? make_fragment_like(layout) : make_layout_like(layout));
}

Json crd2idx_answer(const Json& in) {
  const Coordinate coordinate = coordinate_from(in["coord"]);
  const IntTuple shape = tuple_from(in["shape"]);
  return in["stride"].is_null() ? crd2idx(coordinate, shape)
                                : crd2idx(coordinate, shape, tuple_from(in["stride"]));
}

Json idx2crd_answer(const Json& in) {
  const std::string fn = in["fn"];
  if (in["index"].is_array()) {
    return json_of(idx2crd(coordinate_from(in["index"]), tuple_from(in["shape"])));
  }
  const std::int64_t at = in["index"];
  if (fn == "idx2crd") return json_of(idx2crd(at, tuple_from(in["shape"])));
  if (fn == "idx2crd_stride") {
    return json_of(idx2crd(at, tuple_from(in["shape"]), tuple_from(in["stride"])));
  }
  const Layout layout = layout_from(in["layout"]);
  if (fn == "get_hier_coord") return json_of(get_hier_coord(at, layout));
  if (fn == "get_flat_coord") return json_of(get_flat_coord(at, layout));
  return get_1d_coord(at, layout);
}

Json index_table_answer(const Json& in) {
  const Layout layout = layout_from(in["layout"]);
  Json table = Json::array();
  for (std::int64_t i = 0; i < size(layout).value(); ++i) table.push_back(layout(i));
  return table;
}

Json slice_answer(const Json& in) {
  const Slice result = slice(coordinate_from(in["coord"]), layout_from(in["layout"]));
  return {{"layout", json_of(result.layout)}, {"offset", result.offset}};
}

Layout padding_from(const Json& in) {
  return in["x"].is_null() ? Layout() : layout_from(in["x"]);
}

Layout concat_answer(const Json& in) {
  std::vector<Layout> modes;
  for (const Json& layout : in["layouts"]) modes.push_back(layout_from(layout));
  return make_layout(modes);
}

Json manipulate_answer(const Json& in) {
  static const std::map<std::string, std::function<Layout(const Layout&, const Json&)>> table = {
      {"get", [](const Layout& a, const Json& in) { return get(a, numbers(in["args"])); }},
      {"select", [](const Layout& a, const Json& in) { return select(a, numbers(in["args"])); }},
      {"take",
       [](const Layout& a, const Json& in) { return take(a, in["args"][0], in["args"][1]); }},
      {"group",
       [](const Layout& a, const Json& in) { return group(a, in["args"][0], in["args"][1]); }},
      {"flatten", [](const Layout& a, const Json&) { return flatten(a); }},
      {"append", [](const Layout& a, const Json& in) { return append(a, layout_from(in["x"])); }},
      {"prepend", [](const Layout& a, const Json& in) { return prepend(a, layout_from(in["x"])); }},
      {"replace", [](const Layout& a,
                     const Json& in) { return replace(a, in["args"][0], layout_from(in["x"])); }},
      {"append_rank",
       [](const Layout& a, const Json& in) {
         return append(a, in["args"][0].get<std::size_t>(), padding_from(in));
       }},
      {"prepend_rank",
       [](const Layout& a, const Json& in) {
         return prepend(a, in["args"][0].get<std::size_t>(), padding_from(in));
       }},
      {"unflatten",
       [](const Layout& a, const Json& in) { return unflatten(a, tuple_from(in["profile"])); }},
  };
  if (in["fn"] == "concat") return json_of(concat_answer(in));
  return json_of(table.at(in["fn"])(layout_from(in["layout"]), in));
}

Json int_tuple_answer(const Json& in) {
  const IntTuple a = tuple_from(in["a"]);
  if (in["fn"] == "product_each") return json_of(product_each(a));
  const IntTuple b = tuple_from(in["b"]);
  if (in["fn"] == "product_like") return json_of(product_like(a, b));
  if (in["fn"] == "shape_div") return json_of(shape_div(a, b));
  if (in["fn"] == "round_up") return json_of(round_up(a, b));
  return json_of(ceil_div(a, b));
}

Json compare_answer(const Json& in) {
  const IntTuple a = tuple_from(in["a"]), b = tuple_from(in["b"]);
  return {{"lex_less", lex_less(a, b)},
          {"colex_less", colex_less(a, b)},
          {"elem_less", elem_less(a, b)}};
}

Json predicates_answer(const Json& in) {
  if (in["fn"] == "evenly_divides") {
    return evenly_divides(tuple_from(in["shape"]), tiler_from(in["tiler"]));
  }
  const IntTuple a = tuple_from(in["a"]), b = tuple_from(in["b"]);
  return {{"compatible", compatible(a, b)},
          {"congruent", congruent(a, b)},
          {"weakly_congruent", weakly_congruent(a, b)}};
}

const JsonAnswers& basic_answers() {
  static const JsonAnswers table = {
      {"layout", layout_answer},
      {"make_layout", make_layout_answer},
      {"make_ordered_layout", make_ordered_layout_answer},
      {"make_layout_like", make_layout_like_answer},
      {"crd2idx", crd2idx_answer},
      {"idx2crd", idx2crd_answer},
      {"index_table", index_table_answer},
      {"slice", slice_answer},
      {"manipulate", manipulate_answer},
      {"int_tuple", int_tuple_answer},
      {"compare", compare_answer},
      {"predicates", predicates_answer},
  };
  return table;
}

class CuteBasicVectors : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Operations, CuteBasicVectors, testing::ValuesIn(names_of(basic_answers())),
                         [](const auto& info) { return info.param; });

TEST_P(CuteBasicVectors, AreReproduced) {
  for_each_case(GetParam(), [](const Json& one) {
    EXPECT_EQ(basic_answers().at(GetParam())(one["in"]), one["out"]);
  });
}

TEST(CuteBasicVectors, WhatCuteRefusesIsRefused) {
  expect_refusals(basic_answers());
}

}  // namespace
}  // namespace tilejit
