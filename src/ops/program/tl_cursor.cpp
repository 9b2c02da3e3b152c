#include "program/tl_cursor.hpp"

#include <charconv>
#include <cmath>
#include <limits>

#include "core/suggestion.hpp"
#include "core/text.hpp"
#include "expr/message.hpp"
#include "expr/names.hpp"
#include "expr/parser.hpp"
#include "program/style.hpp"

namespace tilejit::program {
namespace {

using expr::Token;

constexpr std::string_view kWords[] = {
    // statements
    "Allocate", "Copy", "Compute", "Let", "Reshape", "for", "while", "if", "else", "end", "Print",
    "Assert", "Atomic", "Barrier",
    // the header
    "Kernel", "Symbol", "Tensor", "Scalar", "Constant", "Function", "Grid", "Block", "Launch",
    "Tune", "Sweep", "Verify",
    // clauses
    "from", "to", "as", "in", "at", "pad", "order", "mask", "tv", "with", "step", "stages",
    "unroll", "and", "get", "accumulate", "axis", "init", "keepdims"};

expr::SourceText source_of(std::string_view text) {
  return {.text = text, .title = "program", .where = {}};
}

}  // namespace

bool is_tl_word(std::string_view name) noexcept {
  return std::ranges::find(kWords, name) != std::end(kWords);
}

Cursor::Cursor(std::string_view text)
    : text_(text),
      tokens_(expr::tokenize(source_of(text), {.dotted_names = true, .statements = true})) {}

void Cursor::fail(const std::string& message) const {
  fail_at(peek().position, message);
}

void Cursor::fail_at(std::size_t position, const std::string& message) const {
  expr::fail_at(source_of(text_), position, message);
}

std::string Cursor::found() const {
  if (peek().kind == Token::Kind::end) return "the end of the text";
  if (peek().text == "\n") return "the end of the line";
  return expr::quoted(peek().text);
}

const Token& Cursor::peek(std::size_t ahead) const {
  return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
}

bool Cursor::accept(std::string_view spelling) {
  const bool matches = at(spelling);
  if (matches) ++at_;
  return matches;
}

void Cursor::expect(std::string_view spelling, const std::string& after) {
  if (!accept(spelling)) {
    fail("expected '" + std::string(spelling) + "' " + after + ", found " + found());
  }
}

bool Cursor::at_line_end() const {
  const Token::Kind kind = peek().kind;
  return kind == Token::Kind::separator || kind == Token::Kind::comment || kind == Token::Kind::end;
}

std::size_t Cursor::last_end() const {
  const Token& last = tokens_[at_ == 0 ? 0 : at_ - 1];
  return last.position + last.text.size();
}

std::string Cursor::take_comment() {
  if (!at_comment()) return {};
  std::string_view text = take().text.substr(1);
  if (text.starts_with(' ')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) {
    text.remove_suffix(1);
  }
  return std::string(text);
}

std::string Cursor::name(const std::string& what) {
  const Token& token = peek();
  if (token.kind != Token::Kind::name) fail("expected " + what + ", found " + found());
  if (is_tl_word(token.text)) {
    fail("expected " + what + ", found " + found() + ", a word of the language");
  }
  if (!core::is_identifier(token.text)) {
    fail(expr::quoted(token.text) + " is not a name: use letters, digits and '_', at most 64");
  }
  return std::string(take().text);
}

int Cursor::integer(const std::string& what) {
  const std::size_t begin = peek().position;
  const bool negative = accept("-");
  const Token& token = peek();
  int value = 0;
  const char* const end = token.text.data() + token.text.size();
  const bool good = token.kind == Token::Kind::integer &&
                    std::from_chars(token.text.data(), end, value).ptr == end;
  if (!good) {
    fail_at(negative ? begin : token.position, "expected " + what + ", a small integer; found " +
                                                   expr::quoted(negative ? "-" : token.text));
  }
  ++at_;
  return negative ? -value : value;
}

Number Cursor::number(const std::string& what) {
  const bool negative = accept("-");
  const Token token = peek();
  const std::string text = (negative ? "-" : "") + std::string(token.text);
  const char* const end = text.data() + text.size();
  std::int64_t integer = 0;
  std::uint64_t wide = 0;
  double real = 0;
  ++at_;
  if (token.kind == Token::Kind::integer) {
    if (std::from_chars(text.data(), end, integer).ptr == end && std::to_string(integer) == text) {
      return integer;
    }
    if (!negative && std::from_chars(text.data(), end, wide).ptr == end &&
        std::to_string(wide) == text) {
      return wide;
    }
  } else if (token.kind == Token::Kind::floating) {
    const auto read = std::from_chars(text.data(), end, real);
    if (read.ptr == end && read.ec == std::errc()) return real;
  } else if (token.is("inf")) {
    return negative ? -std::numeric_limits<double>::infinity()
                    : std::numeric_limits<double>::infinity();
  }
  --at_;
  fail("expected " + what + ", a decimal number of at most 64 bits; found " + found());
}

std::string Cursor::string(const std::string& what) {
  if (peek().kind != Token::Kind::string) {
    fail("expected " + what + " in double quotes, found " + found());
  }
  const Token& token = take();
  std::string value;
  const std::string_view inside = token.text.substr(1, token.text.size() - 2);
  for (std::size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] != '\\') {
      value += inside[i];
      continue;
    }
    const char escaped = inside[++i];
    if (escaped == 'n') {
      value += '\n';
    } else if (escaped == 't') {
      value += '\t';
    } else if (escaped == '"' || escaped == '\\') {
      value += escaped;
    } else {
      fail_at(token.position + i, "unknown escape; there are \\n, \\t, \\\" and \\\\");
    }
  }
  return value;
}

DType Cursor::dtype() {
  const auto dtype = expr::find_dtype(peek().text);
  if (!dtype) {
    fail("expected a dtype such as f16 or i32, found " + found() +
         core::did_you_mean(core::nearest_dtype(peek().text)));
  }
  ++at_;
  return *dtype;
}

bool Cursor::ends_expression(std::initializer_list<std::string_view> stops) const {
  const Token& token = peek();
  if (at_line_end() || token.is(",") || token.is(":") || token.is("]") || token.is(")")) {
    return true;
  }
  // "and" joins conditions, unless a result follows.
  if (token.is("and")) return peek(1).is("get") || peek(1).is("accumulate");
  if (token.kind != Token::Kind::name) return false;
  return std::ranges::find(stops, token.text) != stops.end();
}

TileExpression Cursor::expression(const std::string& what,
                                  std::initializer_list<std::string_view> stops) {
  const std::size_t begin = peek().position;
  std::vector<std::string_view> open;
  while (!open.empty() || !ends_expression(stops)) {
    const Token& token = peek();
    if (token.kind == Token::Kind::end) break;
    if (token.kind == Token::Kind::comment) {
      fail("a comment stands in the middle of an expression; put it before the statement");
    }
    if (token.kind == Token::Kind::string || token.is("[") || token.is("]")) {
      fail("expected an expression, found " + found());
    }
    if (token.is("(")) open.push_back(token.text);
    if (token.is(")") && !open.empty()) open.pop_back();
    ++at_;
  }
  const std::size_t end = last_end();
  if (at_ == 0 || end <= begin) fail("expected " + what + ", found " + found());
  const std::string_view text = text_.substr(begin, end - begin);
  check_syntax(text);
  return {text, {begin, end}};
}

void Cursor::check_syntax(std::string_view text) const {
  (void)expr::parse_expression({text, "program", {}, text_}, kExpressionDialect);
}

std::vector<TileExpression> Cursor::list(const std::string& what) {
  const bool square = at("[");
  if (!square && !at("(")) fail("expected " + what + " in parentheses, found " + found());
  const std::string_view close = square ? "]" : ")";
  ++at_;
  std::vector<TileExpression> items;
  if (accept(close)) return items;
  do {
    if (accept("_")) {
      items.emplace_back("_", TilePlace{peek().position, peek().position});
    } else {
      items.push_back(expression(what));
    }
  } while (accept(","));
  expect(close, "after " + what);
  return items;
}

std::vector<int> Cursor::integers(const std::string& what) {
  if (!accept("(")) return {integer(what)};
  std::vector<int> items;
  if (accept(")")) return items;
  do {
    items.push_back(integer(what));
  } while (accept(","));
  expect(")", "after " + what);
  return items;
}

}  // namespace tilejit::program
