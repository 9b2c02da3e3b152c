#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "expr/lexer.hpp"

namespace tilejit::expr {

/// Hints for those who write formulas by the habits of other languages. `at` is the token that is
/// not allowed at its place. Each function returns text to append to a message, "; write ..."
/// included, or an empty string.

/// Where an operator or the end of the text was expected: `=`, `if`.
[[nodiscard]] std::string hint_after_expression(const Token& at);
/// Where an operand was expected: `not`, and the second half of `&&` and `||`.
[[nodiscard]] std::string hint_for_operand(std::span<const Token> tokens, std::size_t at);
/// Where '=' was expected after the name before it: `y += 1`.
[[nodiscard]] std::string hint_for_assignment(std::span<const Token> tokens, std::size_t at);
/// For `x.sum()`: `rest` is the text from the point on, `before` the token before it (may be null).
[[nodiscard]] std::string hint_for_method(std::string_view rest, const Token* before);
/// The message for a keyword that `function` does not take.
[[nodiscard]] std::string refused_keyword(std::string_view function, const Token& keyword);

}  // namespace tilejit::expr
