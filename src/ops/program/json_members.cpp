// Members of statements from JSON: names, expressions, integers.
#include <algorithm>

#include "expr/parser.hpp"
#include "program/json_statements.hpp"
#include "program/style.hpp"

namespace tilejit::program {

using core::pointer_to;
using spec::Json;
using spec::ObjectReader;
using spec::Problems;

TileExpression read_expression(const Json& json, const std::string& where, Problems& problems) {
  std::string text;
  if (json.is_string()) {
    text = json.get<std::string>();
  } else if (json.is_number() || json.is_boolean()) {
    text = json.dump();
  } else {
    problems.add(ErrorCode::invalid_spec, "expected an expression such as \"k * 64\", or a number",
                 where);
    return 0;
  }
  if (text == "_") return text;
  try {
    (void)expr::parse_expression({text, "expression", where}, kExpressionDialect);
  } catch (const Error& error) {
    problems.add(error, where);
  }
  return text;
}

std::string BodyReader::name(ObjectReader& object, std::string_view key) {
  if (object.find(key) == nullptr) object.missing(key, "\"A\"");
  return optional_name(object, key);
}

std::string BodyReader::optional_name(ObjectReader& object, std::string_view key) {
  return object.text(key).value_or(std::string());
}

TileExpression BodyReader::expression_of(const Json& json, const std::string& where) {
  return read_expression(json, where, problems_);
}

TileExpression BodyReader::expression(ObjectReader& object, std::string_view key) {
  if (object.find(key) == nullptr) {
    object.missing(key, "\"k * 64\"");
    return 0;
  }
  return expression_of(*object.find(key), object.at(key));
}

std::optional<TileExpression> BodyReader::optional_expression(ObjectReader& object,
                                                              std::string_view key) {
  if (object.find(key) == nullptr) return std::nullopt;
  return expression(object, key);
}

std::vector<TileExpression> BodyReader::expressions_of(const Json& json, const std::string& where) {
  std::vector<TileExpression> list;
  for (std::size_t i = 0; i < json.size(); ++i) {
    list.push_back(expression_of(json[i], pointer_to(where, std::to_string(i))));
  }
  return list;
}

std::vector<TileExpression> BodyReader::expressions(ObjectReader& object, std::string_view key) {
  const Json* const json = object.find(key);
  if (json == nullptr) return {};
  if (!json->is_array()) {
    object.wrong(key, "a list of expressions, such as [64, \"BK\"]");
    return {};
  }
  return expressions_of(*json, object.at(key));
}

std::optional<int> BodyReader::integer(ObjectReader& object, std::string_view key) {
  const auto value = object.integer(key);
  if (!value) return std::nullopt;
  if (*value < -1'000'000 || *value > 1'000'000) {
    object.wrong(key, "a small integer");
    return std::nullopt;
  }
  return static_cast<int>(*value);
}

std::vector<int> BodyReader::integers(ObjectReader& object, std::string_view key) {
  const Json* const json = object.find(key);
  if (json == nullptr) return {};
  if (json->is_number_integer()) return {integer(object, key).value_or(0)};
  std::vector<int> list;
  const bool good = json->is_array() && std::ranges::all_of(*json, [](const Json& item) {
                      return item.is_number_integer() && item >= -1000 && item <= 1000;
                    });
  if (!good) {
    object.wrong(key, "an integer, or a list of small integers");
    return {};
  }
  for (const Json& item : *json) list.push_back(item.get<int>());
  return list;
}

}  // namespace tilejit::program
