#include "layout/reader.hpp"

#include <charconv>

#include "layout/dim_function.hpp"
#include "tilejit/error.hpp"

namespace tilejit::layout {
namespace {

constexpr int kMaxNesting = 16;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

}  // namespace

char Reader::peek() {
  while (pos_ < text_.size() && (text_[pos_] == ' ' || text_[pos_] == '\t')) ++pos_;
  return pos_ < text_.size() ? text_[pos_] : '\0';
}

bool Reader::accept(char c) {
  if (peek() != c || c == '\0') return false;
  ++pos_;
  return true;
}

std::int64_t Reader::read_integer() {
  if (!is_digit(peek())) fail("an integer");
  const std::size_t begin = pos_;
  while (pos_ < text_.size() && is_digit(text_[pos_])) ++pos_;
  const std::string_view digits = text_.substr(begin, pos_ - begin);
  std::int64_t value = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec != std::errc{}) {
    pos_ = begin;
    fail("an integer up to 2^63-1");
  }
  return value;
}

/// What follows a '?': nothing, or "{div=8}".
Dim Reader::read_unknown() {
  if (!accept('{')) return Dim::unknown();
  for (const char c : std::string_view("div=")) {
    if (!accept(c)) fail("'{div=N}' behind '?'");
  }
  const std::int64_t divisor = read_integer();
  if (divisor < 1 || !accept('}')) fail("a positive divisor and '}'");
  return Dim::unknown(divisor);
}

Dim Reader::read_factor() {
  const char c = peek();
  if (is_digit(c)) return read_integer();
  if (accept('?')) return read_unknown();
  if (is_name_start(c)) return read_name();
  fail(c == '-' ? "an integer that is not negative" : "an integer, a symbol or '?'");
}

/// A symbol, or a function of two dimensions.
Dim Reader::read_name() {
  const std::size_t begin = pos_;
  while (pos_ < text_.size() && (is_name_start(text_[pos_]) || is_digit(text_[pos_]))) ++pos_;
  const std::string_view name = text_.substr(begin, pos_ - begin);
  const auto function = peek() == '(' ? parse_function(name) : std::nullopt;
  if (name == "_") {
    pos_ = begin;
    fail("an integer, a symbol or '?'");
  }
  if (!function) return name;
  if (nesting_ == kMaxNesting) fail("at most 16 functions one in another");
  ++nesting_;
  (void)accept('(');
  const Dim a = read_dim();
  if (!accept(',')) fail("',' and a second dimension");
  const Dim b = read_dim();
  if (!accept(')')) fail("')'");
  --nesting_;
  return function_of(*function, a, b);
}

Dim Reader::read_dim() {
  Dim dim = read_factor();
  while (accept('*')) dim = dim * read_factor();
  return dim;
}

void Reader::expect_end() {
  if (peek() != '\0' || pos_ < text_.size()) fail("the end");
}

void Reader::fail(const std::string& what) {
  const char c = peek();
  std::string found = "the end";
  if (pos_ < text_.size())
    found = c >= 0x20 && c < 0x7f ? std::string("'") + c + "'" : "an unprintable byte";
  std::string shown(text_.substr(0, 60));
  for (char& byte : shown) {
    if (byte < 0x20 || byte > 0x7e) byte = '?';
  }
  if (text_.size() > 60) shown += "...";
  throw Error(ErrorCode::invalid_layout, "expected " + what + ", found " + found + " at position " +
                                             std::to_string(pos_) + " of '" + shown + "'");
}

}  // namespace tilejit::layout
