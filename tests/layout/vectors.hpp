#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/source_dir.hpp"
#include "tilejit/error.hpp"
#include "tilejit/indexing.hpp"
#include "tilejit/layout_algebra.hpp"

namespace tilejit::vectors {

// Readers of the files in tests/data/layout, whose README.md describes them.

using Json = nlohmann::json;

inline IntTuple tuple_from(const Json& json) {
  if (json.is_string()) return parse_dim(json.get<std::string>());
  if (!json.is_array()) return json.get<std::int64_t>();
  IntTuple tuple = IntTuple::empty_tuple();
  for (const Json& mode : json) tuple.append(tuple_from(mode));
  return tuple;
}

inline Layout layout_from(const Json& json) {
  return {tuple_from(json["shape"]), tuple_from(json["stride"])};
}

inline Tiler tiler_from(const Json& json) {
  if (json.is_null()) return Underscore{};
  if (json.is_object()) return layout_from(json);
  if (json.is_number()) return json.get<std::int64_t>();
  std::vector<Tiler> modes;
  for (const Json& mode : json) modes.push_back(tiler_from(mode));
  return modes;
}

inline Coordinate coordinate_from(const Json& json) {
  if (json.is_null()) return Underscore{};
  if (!json.is_array()) return json.get<std::int64_t>();
  auto tuple = Coordinate::empty_tuple();
  for (const Json& mode : json) tuple.append(coordinate_from(mode));
  return tuple;
}

inline Json cases_of(const std::string& operation) {
  std::ifstream file(test::source_dir() / "tests/data/layout" / (operation + ".json"));
  return Json::parse(file)["cases"];
}

inline bool has_tag(const Json& one, const char* tag) {
  return one.contains("tags") && std::ranges::count(one["tags"], Json(tag)) != 0;
}

/// Negative strides are not supported.
inline bool is_left_out(const Json& one) {
  return has_tag(one, "negative-stride");
}

/// Keys of a table by operations, for a parameterised test.
template <typename Answers>
std::vector<std::string> names_of(const Answers& answers) {
  std::vector<std::string> names;
  for (const auto& [name, answer] : answers) names.push_back(name);
  return names;
}

/// Calls `check(case)` for each case of the operation.
template <typename Check>
void for_each_case(const std::string& operation, Check check) {
  int seen = 0;
  for (const Json& one : cases_of(operation)) {
    if (is_left_out(one)) continue;
    SCOPED_TRACE(one.dump());
    ++seen;
    try {
      check(one);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
  EXPECT_GT(seen, 10);
}

/// These operations refuse what CuTe refuses.
template <typename Answers>
void expect_refusals(const Answers& answers) {
  int seen = 0;
  for (const Json& one : cases_of("errors")) {
    const std::string operation = one["in"]["op"];
    if (is_left_out(one) || !answers.contains(operation)) continue;
    SCOPED_TRACE(one.dump());
    ++seen;
    EXPECT_THROW((void)answers.at(operation)(one["in"]), Error);
  }
  EXPECT_GE(seen, 5);
}

}  // namespace tilejit::vectors
