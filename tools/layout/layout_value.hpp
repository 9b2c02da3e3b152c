#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "layout/layout_coordinate.hpp"
#include "tilejit/indexing.hpp"
#include "tilejit/tv.hpp"

namespace tilejit::cli {

/// Limits of nested values, in text and in JSON.
constexpr int kMaxNesting = 64;
constexpr int kMaxModes = 64;

/// The kind of an operation's argument. Each kind has a text form and a JSON form.
enum class Kind {
  flag,
  integer,
  int_tuple,
  coordinate,
  order,
  values,
  layout,
  modes,
  tiler,
  swizzle,
  composed
};

/// The order of compact strides: along the first mode, along the last mode, or as the integers of a
/// tuple say.
struct Order {
  enum class By { left, right, modes } by = By::left;
  IntTuple modes = {};
};

/// A layout, or a plain tuple.
struct Modes {
  std::variant<IntTuple, Layout> value;
};

/// The order that the integers of a tuple give. Throws Error for other tuples.
[[nodiscard]] Order make_order(const IntTuple& modes);

/// An argument; std::monostate stands for an optional argument that was left out.
using Argument = std::variant<std::monostate, bool, std::int64_t, IntTuple, WrittenCoordinate,
                              Order, SymbolValues, Layout, Modes, Tiler, Swizzle, ComposedLayout>;

/// "a layout, as in (4,2):(1,4)": for help and messages.
[[nodiscard]] std::string_view kind_text(Kind kind) noexcept;

/// Throws Error with the position of the mistake.
[[nodiscard]] Argument read_text(Kind kind, std::string_view text);
/// Reads integers, booleans, nested arrays, {"shape", "stride"}, and null for `_`. A value of
/// several integers may also be a string in its text form. Throws Error.
[[nodiscard]] Argument read_json(Kind kind, const nlohmann::json& json);

/// An operation's answer, once for people and once for programs.
struct Answer {
  std::string text;
  nlohmann::ordered_json json;
};

[[nodiscard]] Answer make_answer(bool value);
[[nodiscard]] Answer make_answer(std::int64_t value);
[[nodiscard]] Answer make_answer(const Dim& value);
[[nodiscard]] Answer make_answer(const std::vector<std::int64_t>& values);
[[nodiscard]] Answer make_answer(const Coordinate& value);
[[nodiscard]] Answer make_answer(const Position& value);
[[nodiscard]] Answer make_answer(const WrittenSlice& value);
[[nodiscard]] Answer make_answer(const WrittenAnswer& value);
[[nodiscard]] Answer make_answer(const Modes& value);
[[nodiscard]] Answer make_answer(const ComposedLayout& value);
[[nodiscard]] Answer make_answer(const LayoutTV& value);
[[nodiscard]] Answer make_answer(const BankConflicts& value);
/// std::nullopt: no answer was found.
[[nodiscard]] Answer make_answer(const std::optional<bool>& value);
[[nodiscard]] Answer make_answer(const IntTuple& value);
[[nodiscard]] Answer make_answer(const Layout& value);

}  // namespace tilejit::cli
