#include "expr/lexer.hpp"

#include <algorithm>
#include <string>

#include "expr/hints.hpp"
#include "expr/operators.hpp"

namespace tilejit::expr {
namespace {

constexpr std::size_t kMaxNameLength = 64;

// Longer spellings first, so that "**" is not read as two stars.
constexpr std::string_view kSymbols[] = {
    "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "+", "-", "*", "/",
    "%",  "@",  "&",  "|",  "^",  "~",  "<",  ">",  "=", "(", ")", ","};

constexpr std::string_view kStatementSymbols[] = {"[", "]", ":"};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_hex_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_name_part(char c) {
  return is_name_start(c) || is_digit(c);
}

class Lexer {
 public:
  Lexer(const SourceText& source, Dialect dialect)
      : source_(source), text_(source.text), dialect_(dialect) {}

  std::vector<Token> run() {
    while (skip_blanks()) {
      const char c = text_[at_];
      if (c == '\n' || c == ';') {
        separator();
      } else if (is_name_start(c)) {
        name();
      } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
        number();
      } else if (c == '"' && dialect_.statements) {
        string();
      } else if (c == '#') {
        comment();
      } else {
        symbol();
      }
    }
    emit(Token::Kind::end, at_);
    return std::move(tokens_);
  }

 private:
  char peek(std::size_t ahead) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  template <class Predicate>
  void skip_while(Predicate predicate) {
    while (at_ < text_.size() && predicate(text_[at_])) ++at_;
  }

  void emit(Token::Kind kind, std::size_t begin) {
    tokens_.push_back({kind, text_.substr(begin, at_ - begin), begin});
  }

  // False at the end of the text.
  bool skip_blanks() {
    skip_while([](char c) { return c == ' ' || c == '\t' || c == '\r'; });
    if (peek(0) == '#' && !dialect_.statements) skip_while([](char c) { return c != '\n'; });
    return at_ < text_.size();
  }

  void separator() {
    const std::size_t begin = at_++;
    if (text_[begin] == '\n' && parentheses_ > 0) return;
    emit(Token::Kind::separator, begin);
  }

  void name() {
    const std::size_t begin = at_;
    skip_while(is_name_part);
    while (dialect_.dotted_names && peek(0) == '.' && is_name_start(peek(1))) {
      ++at_;
      skip_while(is_name_part);
    }
    if (at_ - begin > kMaxNameLength) fail_at(source_, begin, "a name has at most 64 characters");
    emit(Token::Kind::name, begin);
  }

  void number() {
    const std::size_t begin = at_;
    Token::Kind kind = Token::Kind::integer;
    if (peek(0) == '0' && (peek(1) == 'x' || peek(1) == 'X')) {
      at_ += 2;
      const std::size_t digits = at_;
      skip_while(is_hex_digit);
      if (at_ == digits) fail_at(source_, at_, "expected hexadecimal digits after '0x'");
    } else {
      skip_while(is_digit);
      if (fraction_and_exponent()) kind = Token::Kind::floating;
      const bool leading_zero = text_[begin] == '0' && at_ - begin > 1;
      if (kind == Token::Kind::integer && leading_zero) {
        fail_at(source_, begin, "an integer does not start with 0; octal digits are not supported");
      }
    }
    if (is_name_part(peek(0)) || peek(0) == '.') {
      fail_at(source_, at_, "a number ends here; suffixes and '_' are not supported");
    }
    emit(kind, begin);
  }

  bool fraction_and_exponent() {
    const std::size_t begin = at_;
    if (peek(0) == '.') {
      ++at_;
      skip_while(is_digit);
    }
    if (peek(0) == 'e' || peek(0) == 'E') {
      ++at_;
      if (peek(0) == '+' || peek(0) == '-') ++at_;
      if (!is_digit(peek(0))) fail_at(source_, at_, "expected digits of the exponent");
      skip_while(is_digit);
    }
    return at_ != begin;
  }

  void string() {
    const std::size_t begin = at_++;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') {
      at_ += text_[at_] == '\\' && peek(1) != '\n' && at_ + 1 < text_.size() ? 2 : 1;
    }
    if (peek(0) != '"') fail_at(source_, begin, "a text has no closing quote on its line");
    ++at_;
    emit(Token::Kind::string, begin);
  }

  void comment() {
    const std::size_t begin = at_;
    skip_while([](char c) { return c != '\n'; });
    emit(Token::Kind::comment, begin);
  }

  // The longest symbol at the start of `rest`; empty if there is none.
  std::string_view symbol_at(std::string_view rest) const {
    if (rest.starts_with(kTransposed) && !is_name_part(peek(kTransposed.size())))
      return kTransposed;
    const auto starts = [&](std::string_view spelling) { return rest.starts_with(spelling); };
    const auto* found = std::find_if(std::begin(kSymbols), std::end(kSymbols), starts);
    if (found != std::end(kSymbols)) return *found;
    if (!dialect_.statements) return {};
    found = std::find_if(std::begin(kStatementSymbols), std::end(kStatementSymbols), starts);
    return found == std::end(kStatementSymbols) ? std::string_view() : *found;
  }

  void symbol() {
    const std::string_view rest = text_.substr(at_);
    const std::string_view found = symbol_at(rest);
    if (found.empty()) fail_at(source_, at_, unexpected(rest));
    const std::size_t begin = at_;
    at_ += found.size();
    if (found == "(" || found == "[") ++parentheses_;
    if ((found == ")" || found == "]") && parentheses_ > 0) --parentheses_;
    emit(Token::Kind::symbol, begin);
  }

  std::string unexpected(std::string_view rest) const {
    const Token* before = tokens_.empty() ? nullptr : &tokens_.back();
    std::size_t length = 1;  // the whole UTF-8 sequence, if the character is one
    while (length < std::min<std::size_t>(rest.size(), 4) && (rest[length] & 0xC0) == 0x80)
      ++length;
    const std::string found = "unexpected character " + quoted(rest.substr(0, length));
    if (rest[0] == '!') return found + "; write 'not' or '!='";
    if (rest[0] == '.') return found + hint_for_method(rest, before);
    if (rest[0] == '?') return found + "; write where(condition, a, b)";
    return found;
  }

  const SourceText& source_;
  std::string_view text_;
  Dialect dialect_;
  std::size_t at_ = 0;
  std::size_t parentheses_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(const SourceText& source, Dialect dialect) {
  return Lexer(source, dialect).run();
}

}  // namespace tilejit::expr
