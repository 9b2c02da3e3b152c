#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "kernels/bindings.hpp"
#include "layout/layout_value.hpp"
#include "tilejit/error.hpp"

namespace tilejit::cli {
namespace {

std::string shown(std::string_view text) {
  std::string result(text.substr(0, 60));
  for (char& byte : result) {
    if (byte < 0x20 || byte > 0x7e) byte = '?';
  }
  return text.size() > 60 ? result + "..." : result;
}

std::int64_t parse_integer(std::string_view text) {
  const Dim dim = parse_dim(text);
  if (dim.is_known()) return dim.value();
  throw Error(ErrorCode::invalid_layout,
              fmt::format("'{}' is not a known integer; give a number", shown(text)));
}

SymbolValues parse_values(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0, end = 0; end != text.size(); begin = end + 1) {
    end = std::min(text.find(',', begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
  }
  SymbolValues values;
  for (const auto& [name, value] : parse_assignments(parts, "VALUES")) {
    values[name] = parse_integer(value);
  }
  return values;
}

Order parse_order(std::string_view text) {
  if (text == "left") return {Order::By::left};
  if (text == "right") return {Order::By::right};
  return make_order(parse_int_tuple(text));
}

Modes parse_modes(std::string_view text) {
  if (text.find(':') == text.npos) return {parse_int_tuple(text)};
  return {parse_layout(text)};
}

/// Removes the mark of CuTe's static integers: `_8` becomes 8.
std::string without_marks(std::string_view text) {
  const auto is_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_name(text[end])) ++end;
    std::string_view word = text.substr(at, std::max<std::size_t>(end - at, 1));
    at += word.size();
    const bool is_marked =
        word.size() > 1 && word[0] == '_' && word.find_first_not_of("0123456789", 1) == word.npos;
    result += is_marked ? word.substr(1) : word;
  }
  return result;
}

}  // namespace

std::string_view kind_text(Kind kind) noexcept {
  switch (kind) {
    case Kind::flag: return "true or false";
    case Kind::integer: return "an integer";
    case Kind::int_tuple: return "an integer or a tuple of them, as in (4,(2,3))";
    case Kind::coordinate: return "a coordinate, as in 5, (1,2), (i,3) or (_,(1,_))";
    case Kind::order: return "left, right, or a tuple, the smallest integer first";
    case Kind::values: return "values of symbols, as in M=10,N=4";
    case Kind::layout: return "a layout, as in (4,2):(1,4)";
    case Kind::modes: return "a layout or a tuple, as in (4,2):(1,4) or (4,(2,3))";
    case Kind::swizzle: return "a swizzle, as in Sw<3,3,3>";
    case Kind::composed: return "a layout, as in (4,2):(1,4) or Sw<3,3,3> o 0 o (8,8):(8,1)";
    case Kind::tiler: return "a tiler: 4, _, a layout, or a tuple of these, as in <3:3,_>";
  }
  return "";
}

Order make_order(const IntTuple& modes) {
  const auto known = [](const Dim& leaf) { return leaf.is_known(); };
  if (std::ranges::all_of(modes.leaves(), known)) return {Order::By::modes, modes};
  throw Error(
      ErrorCode::invalid_layout,
      fmt::format("an order is left, right or known integers, found {}", shown(to_string(modes))));
}

Argument read_text(Kind kind, std::string_view given) {
  if (kind == Kind::coordinate) return parse_written_coordinate(given);
  if (kind == Kind::values) return parse_values(given);
  const std::string text = without_marks(given);
  switch (kind) {
    case Kind::flag:
    case Kind::coordinate:
    case Kind::values: break;
    case Kind::integer: return parse_integer(text);
    case Kind::int_tuple: return parse_int_tuple(text);
    case Kind::order: return parse_order(text);
    case Kind::layout: return parse_layout(text);
    case Kind::modes: return parse_modes(text);
    case Kind::tiler: return parse_tiler(text);
    case Kind::swizzle: return parse_swizzle(text);
    case Kind::composed: return parse_composed_layout(text);
  }
  return {};
}

}  // namespace tilejit::cli
