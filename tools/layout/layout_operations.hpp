#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "layout/layout_value.hpp"

namespace tilejit::cli {

using Arguments = std::vector<Argument>;

struct Parameter {
  std::string_view name;
  Kind kind;
  bool optional;
};

/// One row of the table of operations. The command line, the help, the JSON form and the messages
/// all come from this table.
struct Operation {
  std::string_view name;  ///< as CuTe calls it
  std::vector<Parameter> parameters;
  std::string_view description;
  std::vector<std::string_view> example;  ///< the arguments, as text
  std::function<Answer(const Arguments&)> answer;
  std::string_view group = {};  ///< heading in the help
};

/// All operations, in the order of the help.
[[nodiscard]] std::span<const Operation> operations();
/// Throws UsageError, which suggests the nearest name, if there is no such operation.
[[nodiscard]] const Operation& find_operation(std::string_view name);

/// The rows of each group; each group has its own source file.
[[nodiscard]] std::vector<Operation> shape_operations();
[[nodiscard]] std::vector<Operation> coordinate_operations();
[[nodiscard]] std::vector<Operation> making_operations();
[[nodiscard]] std::vector<Operation> mode_operations();
[[nodiscard]] std::vector<Operation> algebra_operations();
[[nodiscard]] std::vector<Operation> function_operations();
[[nodiscard]] std::vector<Operation> int_tuple_operations();

/// The index of a mode. The operation itself refuses an index that is too large.
[[nodiscard]] constexpr std::size_t as_index(std::int64_t value) noexcept {
  return static_cast<std::size_t>(value);
}

/// The integers of a path or of a list of modes. Throws UsageError if one of them is not known.
[[nodiscard]] std::vector<std::size_t> numbers_of(const IntTuple& tuple);

namespace detail {

template <typename T>
constexpr Kind kKind = [] {
  if constexpr (std::is_same_v<T, bool>) return Kind::flag;
  if constexpr (std::is_same_v<T, std::int64_t>) return Kind::integer;
  if constexpr (std::is_same_v<T, IntTuple>) return Kind::int_tuple;
  if constexpr (std::is_same_v<T, WrittenCoordinate>) return Kind::coordinate;
  if constexpr (std::is_same_v<T, Modes>) return Kind::modes;
  if constexpr (std::is_same_v<T, Order>) return Kind::order;
  if constexpr (std::is_same_v<T, SymbolValues>) return Kind::values;
  if constexpr (std::is_same_v<T, Layout>) return Kind::layout;
  if constexpr (std::is_same_v<T, Swizzle>) return Kind::swizzle;
  if constexpr (std::is_same_v<T, ComposedLayout>) return Kind::composed;
  if constexpr (std::is_same_v<T, Tiler>) return Kind::tiler;
}();

template <typename P>
Parameter parameter(std::string_view name) {
  using Value = std::remove_cvref_t<std::remove_pointer_t<P>>;
  constexpr Kind kind = kKind<std::remove_const_t<Value>>;
  return {name, kind, std::is_pointer_v<P> || kind == Kind::flag};
}

template <typename P>
P argument(const Argument& value) {
  if constexpr (std::is_pointer_v<P>) {
    return std::get_if<std::remove_cv_t<std::remove_pointer_t<P>>>(&value);
  } else if constexpr (std::is_same_v<P, bool>) {
    return std::holds_alternative<bool>(value) && std::get<bool>(value);
  } else {
    return std::get<std::remove_cvref_t<P>>(value);
  }
}

}  // namespace detail

/// Makes a row whose parameters have the kinds of the function's parameters. `const Layout*` is an
/// optional layout; bool is a flag, which is always optional.
template <typename Result, typename... P>
Operation operation(std::string_view name, std::vector<std::string_view> names,
                    std::string_view description, std::vector<std::string_view> example,
                    Result (*function)(P...)) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return Operation{.name = name,
                     .parameters = {detail::parameter<P>(names.at(I))...},
                     .description = description,
                     .example = std::move(example),
                     .answer = [function](const Arguments& arguments) {
                       return make_answer(function(detail::argument<P>(arguments[I])...));
                     }};
  }
  (std::index_sequence_for<P...>{});
}

}  // namespace tilejit::cli
