#include "program/style.hpp"

#include <vector>

#include "expr/operators.hpp"
#include "tilejit/error.hpp"
#include "tilejit/program.hpp"

namespace tilejit::program {
namespace {

using expr::Token;

bool is_word_operator(const Token& token) {
  return token.is("and") || token.is("or") || token.is("not");
}

/// Whether an operand may follow `token`, so that a sign after it is unary.
bool expects_operand(const Token& token) {
  if (is_word_operator(token)) return true;
  return token.kind == Token::Kind::symbol && !token.is(")");
}

/// The tokens of one expression as text.
class Styler {
 public:
  std::string run(const std::vector<Token>& tokens) {
    for (const Token& token : tokens) {
      if (token.kind == Token::Kind::end || token.text == "\n") continue;
      add(token);
    }
    return std::move(text_);
  }

 private:
  void add(const Token& token) {
    const bool operand_expected = last_ == nullptr || expects_operand(*last_);
    const bool is_sign = token.is("-") || token.is("+") || token.is("~");
    const bool unary = is_sign && operand_expected;
    if (last_ != nullptr && blank_before(token, unary)) text_ += ' ';
    text_ += token.text;
    if (token.is("(")) ++depth_;
    if (token.is(")")) --depth_;
    after_sign_ = unary;
    last_ = &token;
  }

  [[nodiscard]] bool blank_before(const Token& token, bool unary) const {
    if (after_sign_ || last_->is("(") || token.is(")") || token.is(",") || token.is(";")) {
      return false;
    }
    // The '=' of a keyword argument has no blanks.
    if (depth_ > 0 && (token.is("=") || last_->is("="))) return false;
    if (token.is("(")) return last_->kind != Token::Kind::name || is_word_operator(*last_);
    return !unary || !last_->is("(");
  }

  std::string text_;
  const Token* last_ = nullptr;
  int depth_ = 0;
  bool after_sign_ = false;
};

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
}

}  // namespace

std::string styled(std::string_view text) {
  try {
    return Styler().run(expr::tokenize({text, "expression", {}}, kExpressionDialect));
  } catch (const Error&) {
    return std::string(trimmed(text));
  }
}

std::string in_tl_quotes(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    switch (c) {
      case '\n': quoted += "\\n"; break;
      case '\t': quoted += "\\t"; break;
      case '"': quoted += "\\\""; break;
      case '\\': quoted += "\\\\"; break;
      default: quoted += c;
    }
  }
  return quoted + '"';
}

}  // namespace tilejit::program

namespace tilejit {

TileExpression::TileExpression(std::string_view text, TilePlace place)
    : text_(program::styled(text)), place_(place) {}

}  // namespace tilejit
