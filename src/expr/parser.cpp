#include "expr/parser.hpp"

#include <charconv>
#include <optional>

#include "core/suggestion.hpp"
#include "expr/hints.hpp"
#include "expr/lexer.hpp"
#include "expr/names.hpp"
#include "expr/operators.hpp"
#include "tilejit/error.hpp"

namespace tilejit::expr {
namespace {

using Kind = AstNode::Kind;

const BinaryOperator* binary_at(const Token& token) {
  const bool may_be = token.kind == Token::Kind::symbol || token.kind == Token::Kind::name;
  return may_be ? find_binary(token.text) : nullptr;
}

bool is_keyword(const Token& token) {
  return token.is("and") || token.is("or") || token.is("not") || token.is("if") || token.is("else");
}

class Parser {
 public:
  explicit Parser(SourceText source, Dialect dialect = {}) : tokens_(tokenize(source, dialect)) {
    parsed_.source = std::move(source);
  }

  ParsedText statements() {
    while (skip_separators()) {
      statement();
      if (!at_statement_end())
        fail("expected the end of the statement, found " + found() + hint_after_expression(peek()));
    }
    return std::move(parsed_);
  }

  ParsedText single_expression() {
    std::erase_if(tokens_, [](const Token& token) {
      return token.text == "\n" || token.kind == Token::Kind::comment;
    });
    Statement whole;
    whole.value = value();
    if (peek().kind != Token::Kind::end)
      fail("expected the end of the expression, found " + found() + hint_after_expression(peek()));
    parsed_.statements.push_back(whole);
    return std::move(parsed_);
  }

 private:
  // Counts one more level of parentheses or prefix operators during its life.
  class Nesting {
   public:
    explicit Nesting(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > kMaxNesting) {
        parser_.fail("expressions nest at most " + std::to_string(kMaxNesting) +
                     " levels deep; use temporaries");
      }
    }
    ~Nesting() { --parser_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    Parser& parser_;
  };

  [[noreturn]] void fail(const std::string& message) const {
    fail_at(parsed_.source, peek().position, message);
  }

  const Token& peek() const { return tokens_[at_]; }
  const Token& take() { return tokens_[at_++]; }
  bool accept(std::string_view spelling) {
    const bool matches = peek().is(spelling);
    if (matches) ++at_;
    return matches;
  }

  bool at_statement_end() const {
    return peek().kind == Token::Kind::separator || peek().kind == Token::Kind::end;
  }
  // Returns false at the end of the text.
  bool skip_separators() {
    while (peek().kind == Token::Kind::separator) ++at_;
    return peek().kind != Token::Kind::end;
  }

  std::string found() const {
    if (peek().kind == Token::Kind::end) return "the end of the text";
    if (peek().text == "\n") return "the end of the line";
    return quoted(peek().text);
  }
  AstId add(AstNode node, std::initializer_list<AstId> operands = {}) {
    return add(std::move(node), std::vector<AstId>(operands));
  }
  AstId add(AstNode node, const std::vector<AstId>& operands) {
    node.operands = static_cast<std::uint32_t>(parsed_.operands.size());
    node.count = static_cast<std::uint32_t>(operands.size());
    parsed_.operands.insert(parsed_.operands.end(), operands.begin(), operands.end());
    parsed_.nodes.push_back(std::move(node));
    return static_cast<AstId>(parsed_.nodes.size() - 1);
  }

  AstRange value() {
    const auto begin = static_cast<AstId>(parsed_.nodes.size());
    (void)expression(kLowest);
    return {begin, static_cast<AstId>(parsed_.nodes.size())};
  }

  void statement() {
    const Token& name = peek();
    if (name.kind != Token::Kind::name || is_keyword(name)) {
      fail("expected a statement 'name = expression', found " + found());
    }
    ++at_;
    if (!accept("="))
      fail("expected '=' after " + quoted(name.text) + ", found " + found() +
           hint_for_assignment(tokens_, at_));
    parsed_.statements.push_back({name.text, name.position, value()});
  }

  // Precedence climbing: parses operators of at least `level`.
  AstId expression(int level) {
    AstId left = prefix(level);
    while (const BinaryOperator* binary = binary_at(peek())) {
      if (binary->level < level) break;
      left = binary_expression(left, *binary);
    }
    return left;
  }

  AstId binary_expression(AstId left, const BinaryOperator& binary) {
    const std::size_t position = take().position;
    AstId right = 0;
    if (binary.level == kPower) {  // right associative; allows 2 ** -1
      const Nesting nesting(*this);
      right = expression(kUnary);
    } else {
      right = expression(binary.level + 1);
    }
    if (binary.level == kComparison) refuse_chain();
    return add({.kind = Kind::binary, .op = binary.op, .position = position}, {left, right});
  }

  void refuse_chain() const {
    const BinaryOperator* next = binary_at(peek());
    if (next != nullptr && next->level == kComparison) {
      fail("comparisons do not chain: write 'a < b and b < c'");
    }
  }

  AstId prefix(int level) {
    const Token token = peek();
    if (token.is("not") && level <= kNot) return unary(Op::logical_not, kNot);
    if (token.is("-")) return unary(Op::neg, kUnary);
    if (token.is("~")) return unary(Op::bit_not, kUnary);
    if (token.is("+")) return unary(std::nullopt, kUnary);
    return primary();
  }

  AstId unary(std::optional<Op> op, int level) {
    const Nesting nesting(*this);
    const std::size_t position = take().position;
    const AstId operand = expression(level);
    return add({.kind = op ? Kind::unary : Kind::plus,
                .op = op.value_or(Op::constant),
                .position = position},
               {operand});
  }

  AstId primary() {
    const Token& token = peek();
    if (token.kind == Token::Kind::integer || token.kind == Token::Kind::floating) return number();
    if (token.is("(")) {
      const Nesting nesting(*this);
      ++at_;
      const AstId inner = expression(kLowest);
      close(token);
      return inner;
    }
    if (token.kind == Token::Kind::name && !is_keyword(token)) return name();
    fail("expected an expression, found " + found() + hint_for_operand(tokens_, at_));
  }

  void close(const Token& open) {
    if (accept(")")) return;
    fail("expected ')' to close the '(' of line " +
         std::to_string(line_number(parsed_.source, open.position)) + ", found " + found() +
         hint_after_expression(peek()));
  }

  AstId number() {
    const Token& token = peek();
    AstNode node{.kind = Kind::literal, .position = token.position, .text = token.text};
    if (token.kind == Token::Kind::integer) {
      const auto value = parse_integer(token.text);
      if (!value) fail("an integer literal has at most 64 bits");
      node.literal = *value;
    } else {
      double value = 0;
      const char* const begin = token.text.data();
      if (std::from_chars(begin, begin + token.text.size(), value).ec != std::errc{}) {
        fail("the number is out of the range of f64; write inf or 0.0 if it is meant");
      }
      node.literal = value;
    }
    ++at_;
    return add(std::move(node));
  }

  AstId name() {
    const Token& token = take();
    const bool called = peek().is("(");
    if (const auto constant = find_constant(token.text)) {
      return add({.kind = Kind::literal,
                  .position = token.position,
                  .text = token.text,
                  .literal = *constant});
    }
    if (called) return call(token);
    const bool needs_axes = token.is("iota") || token.is("extent");
    if (names_function(token.text) || token.is("cast") || needs_axes) {
      fail("expected '(': " + quoted(token.text) + " is a function of the language");
    }
    const Kind kind = accept(kTransposed) ? Kind::transposed : Kind::name;
    return add({.kind = kind, .position = token.position, .text = token.text});
  }

  AstId call(const Token& callee) {
    const Nesting nesting(*this);
    const Token& open = take();
    AstNode node{.kind = Kind::call, .position = callee.position, .text = callee.text};
    std::vector<AstId> args;
    if (const auto dtype = find_dtype(callee.text)) {
      node.kind = Kind::cast;
      node.dtype = *dtype;
      args.push_back(expression(kLowest));
    } else if (callee.text == "cast") {
      node.kind = Kind::cast;
      args.push_back(expression(kLowest));
      node.dtype = cast_target();
    } else if (callee.text == "iota" || callee.text == "extent") {
      node.kind = callee.text == "iota" ? Kind::iota : Kind::extent;
      keywords_of(node).axes = axis_list();
    } else if (!peek().is(")")) {
      arguments(node, args);
    }
    close(open);
    return add(std::move(node), args);
  }

  // Reads positional arguments, then the keywords of a reduction or scan.
  void arguments(AstNode& call, std::vector<AstId>& args) {
    const bool is_scan = find_scan(call.text) != nullptr;
    const bool may_have_keywords = is_scan || find_reduction(call.text) != nullptr;
    do {
      if (may_have_keywords && at_keyword()) {
        if (is_scan) {
          keyword_of_scan(call);
        } else {
          keyword(call, args);
        }
        continue;
      }
      if (at_keyword()) fail(refused_keyword(call.text, peek()));
      if (call.keywords != kNoKeywords) fail("a keyword argument stands behind the others");
      args.push_back(expression(kLowest));
    } while (accept(","));
  }

  bool at_keyword() const {
    return peek().kind == Token::Kind::name && !is_keyword(peek()) && tokens_[at_ + 1].is("=");
  }

  void keyword(AstNode& call, std::vector<AstId>& args) {
    const Token& name = peek();
    const bool is_axis = name.is("axis");
    if (!is_axis && !name.is("init")) {
      fail(quoted(call.text) + " has no keyword " + quoted(name.text) +
           "; it takes axis= and init= (write '==' to compare)");
    }
    Keywords& given = keywords_of(call);
    take_keyword(is_axis ? given.axes.has_value() : given.init.has_value());
    if (is_axis) {
      given.axes = axis_list();
    } else {
      given.init = name.position;
      const AstId init = expression(kLowest);  // may add keywords itself
      args.push_back(init);
    }
  }

  void keyword_of_scan(AstNode& call) {
    const Token& name = peek();
    Keywords& given = keywords_of(call);
    if (name.is("axis")) {
      take_keyword(given.axes.has_value());
      given.axes = axis_list();
    } else if (name.is("exclusive") || name.is("reverse")) {
      std::optional<bool>& value = name.is("exclusive") ? given.exclusive : given.reverse;
      take_keyword(value.has_value());
      value = truth(name);
    } else {
      fail(quoted(call.text) + " has no keyword " + quoted(name.text) +
           "; it takes axis=, exclusive= and reverse= (write '==' to compare)");
    }
  }

  // Reads the name of a keyword and the '='.
  void take_keyword(bool is_known) {
    if (is_known) fail("the keyword " + quoted(peek().text) + " is given twice");
    at_ += 2;
  }

  bool truth(const Token& keyword) {
    if (accept("true")) return true;
    if (accept("false")) return false;
    fail(std::string(keyword.text) + "= is true or false, found " + found());
  }

  Keywords& keywords_of(AstNode& call) {
    if (call.keywords == kNoKeywords) {
      call.keywords = static_cast<std::uint32_t>(parsed_.keywords.size());
      parsed_.keywords.emplace_back();
    }
    return parsed_.keywords[call.keywords];
  }

  std::vector<AxisLiteral> axis_list() {
    const Token& open = peek();
    if (!accept("(")) return {axis()};
    std::vector<AxisLiteral> axes;
    do {
      axes.push_back(axis());
    } while (accept(",") && !peek().is(")"));
    close(open);
    return axes;
  }

  AxisLiteral axis() {
    const std::size_t position = peek().position;
    const bool negative = accept("-");
    if (peek().kind != Token::Kind::integer) {
      fail("expected an axis, an integer literal such as 0 or -1, found " + found());
    }
    const auto value = parse_integer(take().text);
    if (!value || *value > INT32_MAX) fail_at(parsed_.source, position, "there is no such axis");
    const auto number = static_cast<std::int64_t>(*value);
    return {negative ? -number : number, position};
  }

  DType cast_target() {
    if (!accept(",")) fail("expected ',' and a dtype, as in cast(x, f16), found " + found());
    const auto dtype = find_dtype(peek().text);
    if (!dtype) {
      fail("expected a dtype such as f16 or i32, found " + found() +
           core::did_you_mean(core::nearest_dtype(peek().text)));
    }
    ++at_;
    return *dtype;
  }

  ParsedText parsed_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

void check_size(const SourceText& source) {
  if (source.text.size() <= kMaxTextBytes) return;
  throw Error(ErrorCode::invalid_formula,
              source.title + ": the text has " + std::to_string(source.text.size()) +
                  " bytes, at most " + std::to_string(kMaxTextBytes) + " are allowed",
              source.where);
}

}  // namespace

ParsedText parse_statements(SourceText source) {
  check_size(source);
  return Parser(std::move(source)).statements();
}

ParsedText parse_expression(SourceText source, Dialect dialect) {
  check_size(source);
  return Parser(std::move(source), dialect).single_expression();
}

}  // namespace tilejit::expr
