#include "expr/hints.hpp"

#include <algorithm>

#include "expr/operators.hpp"

namespace tilejit::expr {

std::string hint_after_expression(const Token& at) {
  if (at.is("=")) return "; write '==' to compare";
  if (at.is("if")) return "; write where(condition, a, b)";
  if (at.is(kTransposed)) {
    return "; it swaps the last two modes of a tensor and stands behind its name: for the "
           "transpose "
           "of a value, give the value an output with a layout that is transposed";
  }
  return "";
}

std::string hint_for_operand(std::span<const Token> tokens, std::size_t at) {
  const Token& token = tokens[at];
  if (token.is("not")) return "; put it into parentheses";
  const bool doubled =
      at > 0 && tokens[at - 1].text == token.text && tokens[at - 1].position + 1 == token.position;
  if (doubled && token.is("&")) return "; write 'and' for '&&'";
  if (doubled && token.is("|")) return "; write 'or' for '||'";
  return "";
}

std::string hint_for_assignment(std::span<const Token> tokens, std::size_t at) {
  const bool augmented = tokens[at].kind == Token::Kind::symbol &&
                         find_binary(tokens[at].text) != nullptr && tokens[at + 1].is("=");
  if (!augmented || at == 0) return "";
  const std::string target(tokens[at - 1].text);
  return "; write '" + target + " = " + target + " " + std::string(tokens[at].text) + " ...'";
}

std::string hint_for_method(std::string_view rest, const Token* before) {
  constexpr std::size_t kMost = 40;
  const auto in_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  const auto end = std::find_if_not(rest.begin() + 1, rest.end(), in_name);
  const std::string method(rest.begin() + 1, end);
  if (method.empty() || method.size() > kMost) return "";
  const bool of_name = before != nullptr && before->kind == Token::Kind::name;
  const std::string value = of_name ? std::string(before->text) : "...";
  return "; values have no methods: write " + method + "(" + value + ")";
}

std::string refused_keyword(std::string_view function, const Token& keyword) {
  const std::string start = quoted(function) + " has no keyword " + quoted(keyword.text);
  if (keyword.is("axis"))
    return start + ": it computes element by element; sum, max, cumsum and their like take axis=";
  return start + "; it takes its arguments in order (write '==' to compare)";
}

}  // namespace tilejit::expr
