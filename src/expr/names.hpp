#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "expr/program.hpp"

namespace tilejit::expr {

/// A function that is part of the language.
struct Builtin {
  std::string_view name;
  Op op;
  int min_args = 1;
  int max_args = 1;            ///< kAnyNumber: no limit
  bool is_declarable = false;  ///< a declaration may use its name; a function so declared hides it
};
inline constexpr int kAnyNumber = -1;

/// Functions that are written in the formula language itself. Functions of a scope hide them.
[[nodiscard]] const std::vector<FunctionText>& prelude();

/// A function of one argument that combines its values along axes.
struct Reduction {
  enum class Kind : std::uint8_t { sum, prod, mean, var, min, max, any, all, argmin, argmax };
  std::string_view name;
  Kind kind;
  bool takes_init = false;
};

/// A function of one argument that combines all values up to each place along an axis.
struct Scan {
  std::string_view name;
  Op op;
};

/// Any built-in function except the casts; nullptr if no function has that name.
[[nodiscard]] const Builtin* find_builtin(std::string_view name) noexcept;
/// The same for reductions. `min` and `max` of two or more arguments are built-in functions too.
[[nodiscard]] const Reduction* find_reduction(std::string_view name) noexcept;
[[nodiscard]] const Scan* find_scan(std::string_view name) noexcept;
[[nodiscard]] std::optional<DType> find_dtype(std::string_view name) noexcept;

/// True for dtypes and for those functions of the language whose names cannot be declared.
[[nodiscard]] bool names_function(std::string_view name) noexcept;

/// "1 argument", "2 or more arguments".
[[nodiscard]] std::string expected_arguments(const Builtin& builtin);

/// "; did you mean 'scale'?" for the nearest of `known` and the built-in names, or an empty string.
/// Names that other libraries give to dtypes and functions lead to ours.
[[nodiscard]] std::string suggestion(std::string_view name,
                                     std::span<const std::string_view> known);

}  // namespace tilejit::expr
