#include "operation/size_expression.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "core/json_pointer.hpp"
#include "core/text.hpp"
#include "tilejit/error.hpp"
#include "tilejit/printable.hpp"

namespace tilejit::operation {
namespace {

bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) noexcept {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

}  // namespace

/// Recursive descent: sums of products of factors.
class SizeExpression::Parser {
 public:
  Parser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  SizeExpression parse() {
    made_.items_.clear();
    made_.text_ = std::string(text_);
    if (text_.size() > kMostText) fail(0, "an expression has at most 1000 characters");
    sum();
    skip_blanks();
    if (at_ < text_.size()) fail(at_, "an operator or the end is expected here");
    return std::move(made_);
  }

 private:
  static constexpr std::size_t kMostText = 1000;
  static constexpr int kMostDepth = 32;

  [[noreturn]] void fail(std::size_t at, const std::string& why) const {
    const std::string shown = printable(text_.substr(0, 200));
    throw Error(
        ErrorCode::invalid_spec,
        why + "\n    " + shown + "\n    " + std::string(std::min<std::size_t>(at, 200), ' ') + "^",
        where_);
  }

  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool take(std::string_view token) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) fail(at_, "'" + std::string(token) + "' is expected here");
  }
  void push(Op op, std::int64_t value = 0) {
    if (made_.items_.size() == kMostItems) fail(at_, "the expression is too long");
    made_.items_.push_back({op, value});
  }

  void sum() {
    if (++depth_ > kMostDepth) fail(at_, "at most 32 levels of parentheses");
    product();
    for (;;) {
      const bool adds = take("+");
      if (!adds && !take("-")) break;
      product();
      push(adds ? Op::add : Op::sub);
    }
    --depth_;
  }

  void product() {
    factor();
    for (;;) {
      Op op = Op::mul;
      if (take("//")) {
        op = Op::div;
      } else if (take("%")) {
        op = Op::mod;
      } else if (!take("*")) {
        skip_blanks();
        if (at_ < text_.size() && text_[at_] == '/') fail(at_, "sizes are divided by '//'");
        return;
      }
      factor();
      push(op);
    }
  }

  void factor() {
    skip_blanks();
    if (at_ == text_.size()) fail(at_, "a number, a name or '(' is expected here");
    if (take("(")) {
      sum();
      return expect(")");
    }
    if (is_digit(text_[at_])) return number();
    if (!is_letter(text_[at_])) fail(at_, "a number, a name or '(' is expected here");
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (take("(")) return call(word, begin);
    name(word, begin);
  }

  void number() {
    std::int64_t value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) fail(at_, "the number exceeds 64 bits");
    at_ = static_cast<std::size_t>(end - text_.data());
    push(Op::number, value);
  }

  void call(std::string_view function, std::size_t begin) {
    const std::optional<Op> op = function == "ceil_div" ? std::optional(Op::ceil_div)
                                 : function == "min"    ? std::optional(Op::min)
                                 : function == "max"    ? std::optional(Op::max)
                                                        : std::nullopt;
    if (!op) fail(begin, "the functions are ceil_div(a,b), min(a,b) and max(a,b)");
    sum();
    expect(",");
    sum();
    expect(")");
    push(*op);
  }

  void name(std::string_view word, std::size_t begin) {
    if (!core::is_identifier(word)) fail(begin, "a name has at most 64 letters");
    const auto found = std::ranges::find(made_.names_, word);
    push(Op::name, found - made_.names_.begin());
    if (found == made_.names_.end()) made_.names_.emplace_back(word);
  }

  std::string_view text_;
  const std::string& where_;
  SizeExpression made_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

SizeExpression::SizeExpression(std::int64_t value)
    : items_{{Op::number, value}}, text_(std::to_string(value)) {}

SizeExpression SizeExpression::parse(std::string_view text, const std::string& where) {
  return Parser(text, where).parse();
}

SizeExpression SizeExpression::with(const std::map<std::string, std::int64_t>& values) const {
  SizeExpression result = *this;
  result.names_.clear();
  for (Item& item : result.items_) {
    if (item.op != Op::name) continue;
    const std::string& name = names_[static_cast<std::size_t>(item.value)];
    if (const auto found = values.find(name); found != values.end()) {
      item = {Op::number, found->second};
      continue;
    }
    const auto kept = std::ranges::find(result.names_, name);
    item.value = kept - result.names_.begin();
    if (kept == result.names_.end()) result.names_.push_back(name);
  }
  return result;
}

std::int64_t SizeExpression::evaluate(std::span<const std::int64_t> values) const {
  std::array<std::int64_t, kMostItems> stack;  // initialised only as far as it is used
  std::size_t count = 0;
  for (const Item& item : items_) {
    if (item.op == Op::number) {
      stack[count++] = item.value;
    } else if (item.op == Op::name) {
      stack[count++] = values[static_cast<std::size_t>(item.value)];
    } else {
      --count;
      stack[count - 1] = apply(item.op, stack[count - 1], stack[count]);
    }
  }
  return stack[0];
}

std::int64_t SizeExpression::apply(Op op, std::int64_t a, std::int64_t b) const {
  const bool divides = op == Op::div || op == Op::mod || op == Op::ceil_div;
  if (divides && b == 0) {
    throw Error(ErrorCode::invalid_argument, "'" + text_ + "' divides by 0");
  }
  std::int64_t result = 0;
  bool overflow = divides && b == -1 && a == INT64_MIN;
  if (!overflow) {
    switch (op) {
      case Op::number:
      case Op::name: break;
      case Op::add: overflow = __builtin_add_overflow(a, b, &result); break;
      case Op::sub: overflow = __builtin_sub_overflow(a, b, &result); break;
      case Op::mul: overflow = __builtin_mul_overflow(a, b, &result); break;
      case Op::div: result = floor_div(a, b); break;
      case Op::mod: result = a - floor_div(a, b) * b; break;
      case Op::ceil_div: result = floor_div(a, b) + (a % b != 0); break;
      case Op::min: result = std::min(a, b); break;
      case Op::max: result = std::max(a, b); break;
    }
  }
  if (overflow) throw Error(ErrorCode::unsupported, "'" + text_ + "' exceeds 64 bits");
  return result;
}

}  // namespace tilejit::operation
