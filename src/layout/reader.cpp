#include "layout/reader.hpp"

#include <algorithm>
#include <charconv>

#include "layout/dim_function.hpp"
#include "tilejit/error.hpp"

namespace tilejit::layout {
namespace {

constexpr int kMaxNesting = 64;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_printable(char c) {
  return c >= 0x20 && c < 0x7f;
}

/// " at position N of '...'", with the text shortened to the surroundings of the position.
std::string place(std::string_view text, std::size_t position) {
  constexpr std::size_t kShown = 60;
  const std::size_t begin = position < kShown ? 0 : position - kShown / 2;
  std::string shown(text.substr(begin, kShown));
  std::ranges::replace_if(
      shown, [&](char c) { return !is_printable(c); }, '?');
  if (begin > 0) shown = "..." + shown;
  if (begin + kShown < text.size()) shown += "...";
  return " at position " + std::to_string(position) + " of '" + shown + "'";
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

/// Reads what follows a '?': nothing, or "{div=8}".
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

/// What `make` returns. Errors get the position of the text that it was made from.
template <typename Make>
Dim Reader::made_at(std::size_t begin, Make make) const {
  try {
    return make();
  } catch (const Error& error) {
    throw Error(error.code(), error.what() + place(text_, begin));
  }
}

/// Reads a symbol, or a function of two dimensions.
Dim Reader::read_name() {
  const std::size_t begin = pos_;
  while (pos_ < text_.size() && (is_name_start(text_[pos_]) || is_digit(text_[pos_]))) ++pos_;
  const std::string_view name = text_.substr(begin, pos_ - begin);
  const auto function = peek() == '(' ? parse_function(name) : std::nullopt;
  if (name == "_") {
    pos_ = begin;
    fail("an integer, a symbol or '?'");
  }
  if (!function) return made_at(begin, [&] { return Dim(name); });
  if (nesting_ == kMaxNesting) fail("at most 64 functions one in another");
  ++nesting_;
  (void)accept('(');
  const Dim a = read_dim();
  if (!accept(',')) fail("',' and a second dimension");
  const Dim b = read_dim();
  if (!accept(')')) fail("')'");
  --nesting_;
  return made_at(begin, [&] { return function_of(*function, a, b); });
}

Dim Reader::read_dim() {
  const std::size_t begin = pos_;
  Dim dim = read_factor();
  while (accept('*')) {
    const Dim factor = read_factor();
    dim = made_at(begin, [&] { return dim * factor; });
  }
  return peek() == '@' ? read_step(dim) : dim;
}

/// Reads what follows a number of steps: '@1', or '@0@1'.
Dim Reader::read_step(const Dim& steps) {
  const std::size_t begin = pos_;
  while (pos_ < text_.size() && (text_[pos_] == '@' || is_digit(text_[pos_]))) ++pos_;
  const std::string_view basis = text_.substr(begin, pos_ - begin);
  if (is_basis_text(basis)) return made_at(begin, [&] { return steps * Dim(basis); });
  pos_ = begin;
  fail("steps along 1 to 8 modes of a coordinate up to 1023, as in 1@0 or 2@0@1");
}

void Reader::expect_end() {
  if (peek() != '\0' || pos_ < text_.size()) fail("the end");
}

void Reader::fail(const std::string& what) {
  (void)peek();
  fail_at(text_, pos_, what);
}

void fail_at(std::string_view text, std::size_t position, const std::string& what) {
  std::string found = "the end";
  if (position < text.size()) {
    const char c = text[position];
    found = is_printable(c) ? std::string("'") + c + "'" : "an unprintable byte";
  }
  throw Error(ErrorCode::invalid_layout,
              "expected " + what + ", found " + found + place(text, position));
}

}  // namespace tilejit::layout
