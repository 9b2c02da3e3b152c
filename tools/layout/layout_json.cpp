#include <fmt/format.h>

#include "layout/layout_value.hpp"
#include "tilejit/error.hpp"

namespace tilejit::cli {
namespace {

using Json = nlohmann::json;

[[noreturn]] void refuse(const std::string& what, const Json& json) {
  std::string shown = json.dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, 60);
  if (shown.size() == 60) shown += "...";
  throw Error(ErrorCode::invalid_layout, fmt::format("expected {}, found {}", what, shown));
}

int count_leaves(const Json& json, int nesting) {
  if (!json.is_array()) return 1;
  if (nesting == kMaxNesting) refuse("at most 64 levels of nesting", json);
  if (json.empty()) refuse("at least one mode", json);
  int leaves = 0;
  for (const Json& mode : json) {
    leaves += count_leaves(mode, nesting + 1);
    if (leaves > kMaxModes) refuse("at most 64 modes", json);
  }
  return leaves;
}

/// Throws if a tuple has no modes or too many, at any level. Checks this before any mode is read.
const Json& checked(const Json& json) {
  (void)count_leaves(json, 0);
  return json;
}

std::int64_t read_integer(const Json& json) {
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > INT64_MAX) {
    refuse("an integer up to 2^63-1", json);
  }
  if (!json.is_number_integer()) refuse("an integer", json);
  const auto value = json.get<std::int64_t>();
  if (value < 0) refuse("an integer that is not negative", json);
  return value;
}

IntTuple read_int_tuple(const Json& json) {
  if (json.is_string()) return parse_int_tuple(json.get_ref<const std::string&>());
  if (!json.is_array()) return read_integer(json);
  IntTuple tuple = IntTuple::empty_tuple();
  for (const Json& mode : json) tuple.append(read_int_tuple(mode));
  return tuple;
}

Coordinate read_coordinate(const Json& json) {
  if (json.is_null()) return Underscore{};
  if (json.is_string()) return parse_coordinate(json.get_ref<const std::string&>());
  if (!json.is_array()) return read_integer(json);
  Coordinate coordinate = Coordinate::empty_tuple();
  for (const Json& mode : json) coordinate.append(read_coordinate(mode));
  return coordinate;
}

Order read_order(const Json& json) {
  if (json.is_string()) {
    return std::get<Order>(read_text(Kind::order, json.get_ref<const std::string&>()));
  }
  return make_order(read_int_tuple(checked(json)));
}

SymbolValues read_values(const Json& json) {
  if (json.is_string()) {
    return std::get<SymbolValues>(read_text(Kind::values, json.get_ref<const std::string&>()));
  }
  if (!json.is_object()) refuse("values of symbols, as in {\"M\": 10}", json);
  SymbolValues values;
  for (const auto& [name, value] : json.items()) values[name] = read_integer(value);
  return values;
}

Layout read_layout(const Json& json) {
  if (json.is_string()) return parse_layout(json.get_ref<const std::string&>());
  if (!json.is_object() || !json.contains("shape") || !json.contains("stride")) {
    refuse("a layout, as text or as {\"shape\", \"stride\"}", json);
  }
  return {read_int_tuple(checked(json["shape"])), read_int_tuple(checked(json["stride"]))};
}

int read_bits(const Json& json) {
  if (!json.is_number_integer() || json > 64 || json < -64) refuse("an integer up to 64", json);
  return json.get<int>();
}

Swizzle read_swizzle(const Json& json) {
  if (json.is_string()) return parse_swizzle(json.get_ref<const std::string&>());
  if (!json.is_array() || json.size() != 3) refuse("a swizzle, as in [3,3,3]", json);
  return {read_bits(json[0]), read_bits(json[1]), read_bits(json[2])};
}

ComposedLayout read_composed(const Json& json) {
  if (json.is_string()) return parse_composed_layout(json.get_ref<const std::string&>());
  if (!json.is_object() || !json.contains("swizzle")) return read_layout(json);
  if (!json.contains("offset") || !json.contains("layout")) {
    refuse("{\"swizzle\", \"offset\", \"layout\"}", json);
  }
  return {read_swizzle(json["swizzle"]), read_integer(json["offset"]), read_layout(json["layout"])};
}

/// The text form may also have symbols and static integers.
WrittenCoordinate read_written(const Json& json) {
  if (json.is_string()) return parse_written_coordinate(json.get_ref<const std::string&>());
  return written(read_coordinate(checked(json)));
}

Modes read_modes(const Json& json) {
  if (json.is_object()) return {read_layout(json)};
  if (json.is_string()) {
    return std::get<Modes>(read_text(Kind::modes, json.get_ref<const std::string&>()));
  }
  return {read_int_tuple(checked(json))};
}

Tiler read_tiler(const Json& json) {
  if (json.is_null()) return Underscore{};
  if (json.is_object()) return read_layout(json);
  if (json.is_string()) return parse_tiler(json.get_ref<const std::string&>());
  if (!json.is_array()) return read_integer(json);
  std::vector<Tiler> modes;
  for (const Json& mode : json) modes.push_back(read_tiler(mode));
  return modes;
}

bool read_flag(const Json& json) {
  if (!json.is_boolean()) refuse("true or false", json);
  return json.get<bool>();
}

}  // namespace

Argument read_json(Kind kind, const Json& json) {
  switch (kind) {
    case Kind::flag: return read_flag(json);
    case Kind::integer: return read_integer(json);
    case Kind::int_tuple: return read_int_tuple(checked(json));
    case Kind::coordinate: return read_written(json);
    case Kind::order: return read_order(json);
    case Kind::values: return read_values(json);
    case Kind::layout: return read_layout(json);
    case Kind::modes: return read_modes(json);
    case Kind::tiler: return read_tiler(checked(json));
    case Kind::swizzle: return read_swizzle(json);
    case Kind::composed: return read_composed(json);
  }
  return {};
}

}  // namespace tilejit::cli
