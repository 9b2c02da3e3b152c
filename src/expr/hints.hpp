#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "expr/lexer.hpp"

namespace tilejit::expr {

/// What to write instead of habits of other languages. `at` is the token that a formula cannot have
/// at its place. Empty, or text that follows a message, "; write ..." included.

/// Where an operator or the end of the text was expected: `=`, `if`.
[[nodiscard]] std::string hint_after_expression(const Token& at);
/// Where an operand was expected: `not`, and the second half of `&&` and `||`.
[[nodiscard]] std::string hint_for_operand(std::span<const Token> tokens, std::size_t at);
/// Where '=' was expected after the name before it: `y += 1`.
[[nodiscard]] std::string hint_for_assignment(std::span<const Token> tokens, std::size_t at);
/// Of `x.sum()`: the text from the point on, and the token before it, if there is one.
[[nodiscard]] std::string hint_for_method(std::string_view rest, const Token* before);
/// `function` was given a keyword, which it does not take.
[[nodiscard]] std::string refused_keyword(std::string_view function, const Token& keyword);

}  // namespace tilejit::expr
