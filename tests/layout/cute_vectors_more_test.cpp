// Answers computed by CuTe C++ itself for functions on top of the algebra: tests/data/layout.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <numeric>

#include "layout/vectors.hpp"
#include "tilejit/error.hpp"
#include "tilejit/swizzle.hpp"
#include "tilejit/tv.hpp"

namespace tilejit {
namespace {

using namespace vectors;

TileOrder order_from(const Json& json) {
  return json == "left" ? TileOrder::left : TileOrder::right;
}

/// The wanted and the actual answer of a case, as text.
using TextAnswer = std::function<std::string(const Json& in)>;

std::string filtered(const Json& in) {
  const Layout layout = layout_from(in["layout"]);
  const bool zeros_only = in["fn"] == "filter_zeros";
  if (in["profile"].is_null()) return to_string(zeros_only ? filter_zeros(layout) : filter(layout));
  const IntTuple profile = tuple_from(in["profile"]);
  return to_string(zeros_only ? filter_zeros(layout, profile) : filter(layout, profile));
}

std::string tiled_to_shape(const Json& in) {
  const Layout block = layout_from(in["block"]);
  const IntTuple shape = tuple_from(in["shape"]);
  return to_string(in["order"].is_string() ? tile_to_shape(block, shape, order_from(in["order"]))
                                           : tile_to_shape(block, shape, tuple_from(in["order"])));
}

std::string tv_of(const Json& in) {
  const LayoutTV tv = make_layout_tv(layout_from(in["thr"]), layout_from(in["val"]));
  return to_string(tv.layout_mn) + " " + to_string(tv.tiler) + " " + to_string(tv.layout_tv);
}

Swizzle swizzle_from(const Json& json) {
  return {json[0].get<int>(), json[1].get<int>(), json[2].get<int>()};
}

ComposedLayout composed_from(const Json& json) {
  return {swizzle_from(json["swizzle"]), json["offset"].get<std::int64_t>(),
          layout_from(json["layout"])};
}

/// f(i) for each index.
template <typename Function>
std::string table_of(const Function& f, const std::vector<std::int64_t>& indices) {
  Json table = Json::array();
  for (const std::int64_t i : indices) table.push_back(f(i));
  return table.dump();
}

std::string with_table(const ComposedLayout& layout) {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(size(layout.layout()).value()));
  std::iota(indices.begin(), indices.end(), 0);
  return to_string(layout) + " " + table_of(layout, indices);
}

const std::map<std::string, TextAnswer>& answers_of_swizzles() {
  static const std::map<std::string, TextAnswer> table = {
      {"apply",
       [](const Json& in) { return table_of(swizzle_from(in["swizzle"]), in["indices"]); }},
      {"points", [](const Json& in) { return table_of(composed_from(in), in["indices"]); }},
      {"table", [](const Json& in) { return with_table(composed_from(in)); }},
      {"compose",
       [](const Json& in) {
         return with_table(composition(composed_from(in), layout_from(in["b"])));
       }},
      {"upcast",
       [](const Json& in) {
         return to_string(upcast(swizzle_from(in["swizzle"]), in["n"].get<std::int64_t>()));
       }},
      {"tile_to_shape",
       [](const Json& in) {
         const ComposedLayout block = composed_from(in);
         const IntTuple shape = tuple_from(in["shape"]);
         return to_string(in["order"].is_string()
                              ? tile_to_shape(block, shape, order_from(in["order"]))
                              : tile_to_shape(block, shape, tuple_from(in["order"])));
       }},
      {"logical_divide",
       [](const Json& in) {
         return to_string(logical_divide(composed_from(in), tiler_from(in["tiler"])));
       }},
      {"zipped_divide",
       [](const Json& in) {
         return to_string(zipped_divide(composed_from(in), tiler_from(in["tiler"])));
       }},
      {"left_inverse", [](const Json& in) { return to_string(left_inverse(composed_from(in))); }},
      {"right_inverse", [](const Json& in) { return to_string(right_inverse(composed_from(in))); }},
      {"layout_o_swizzled",
       [](const Json& in) {
         return to_string(composition(layout_from(in["a"]), composed_from(in)));
       }},
  };
  return table;
}

const std::map<std::string, TextAnswer>& more_answers() {
  static const std::map<std::string, TextAnswer> table = {
      {"filter", filtered},
      {"nullspace", [](const Json& in) { return to_string(nullspace(layout_from(in["layout"]))); }},
      {"max_common",
       [](const Json& in) {
         const Layout a = layout_from(in["a"]), b = layout_from(in["b"]);
         return to_string(max_common_vector(a, b)) + " " + to_string(max_common_layout(a, b));
       }},
      {"max_alignment",
       [](const Json& in) { return std::to_string(max_alignment(layout_from(in["layout"]))); }},
      {"domain_distribute",
       [](const Json& in) {
         return to_string(domain_distribute(tuple_from(in["shape"]), in["n"].get<std::int64_t>()));
       }},
      {"recast_layout",
       [](const Json& in) {
         return to_string(recast_layout(layout_from(in["layout"]),
                                        in["old_bits"].get<std::int64_t>(),
                                        in["new_bits"].get<std::int64_t>()));
       }},
      {"tile_to_shape", tiled_to_shape},
      {"make_layout_tv", tv_of},
      {"swizzle",
       [](const Json& in) { return answers_of_swizzles().at(in["fn"].get<std::string>())(in); }},
  };
  return table;
}

std::string expected(const Json& out) {
  if (out.contains("vector")) {
    return out["vector"].dump() + " " + out["layout"]["text"].get<std::string>();
  }
  if (out.contains("layout_tv")) {
    return out["layout_mn"]["text"].get<std::string>() + " " + to_string(tuple_from(out["tiler"])) +
           " " + out["layout_tv"]["text"].get<std::string>();
  }
  if (out.contains("table")) {
    return out["layout"]["text"].get<std::string>() + " " + out["table"].dump();
  }
  return out.is_object() ? out["text"].get<std::string>() : out.dump();
}

class CuteVectorsMore : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Operations, CuteVectorsMore, testing::ValuesIn(names_of(more_answers())),
                         [](const auto& info) { return info.param; });

TEST_P(CuteVectorsMore, AreReproduced) {
  for_each_case(GetParam(), [](const Json& one) {
    EXPECT_EQ(more_answers().at(GetParam())(one["in"]), expected(one["out"]));
  });
}

TEST(CuteVectorsMore, WhatCuteRefusesIsRefused) {
  expect_refusals(more_answers());
}

}  // namespace
}  // namespace tilejit
