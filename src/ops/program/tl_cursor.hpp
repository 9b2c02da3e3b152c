#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "expr/lexer.hpp"
#include "program/words.hpp"
#include "tilejit/program.hpp"

namespace tilejit::program {

/// The tokens of a TL text, read one after another. Every function throws Error{invalid_formula}
/// with a line and a caret for what it does not find.
class Cursor {
 public:
  /// Keeps a view of `text`.
  explicit Cursor(std::string_view text);

  [[noreturn]] void fail(const std::string& message) const;
  [[noreturn]] void fail_at(std::size_t position, const std::string& message) const;
  /// What stands at the cursor, for a message: "'from'" or "the end of the line".
  [[nodiscard]] std::string found() const;

  [[nodiscard]] const expr::Token& peek(std::size_t ahead = 0) const;
  const expr::Token& take() { return tokens_[at_++]; }
  [[nodiscard]] bool at(std::string_view spelling) const { return peek().is(spelling); }
  [[nodiscard]] bool accept(std::string_view spelling);
  void expect(std::string_view spelling, const std::string& after);
  /// At a separator, a comment or the end.
  [[nodiscard]] bool at_line_end() const;
  /// The end of the last token taken.
  [[nodiscard]] std::size_t last_end() const;

  [[nodiscard]] bool at_comment() const { return peek().kind == expr::Token::Kind::comment; }
  /// The comment at the cursor, without its '#' and the blanks around it; empty if there is none.
  [[nodiscard]] std::string take_comment();

  /// A name without dots, which is no word of the language.
  [[nodiscard]] std::string name(const std::string& what);
  [[nodiscard]] int integer(const std::string& what);
  [[nodiscard]] Number number(const std::string& what);
  [[nodiscard]] std::string string(const std::string& what);
  [[nodiscard]] DType dtype();
  /// An expression that ends before a comma, a closing bracket, ':', a word of `stops`, or the end
  /// of the line.
  [[nodiscard]] TileExpression expression(const std::string& what,
                                          std::initializer_list<std::string_view> stops = {});
  /// "(a, b)" or "[a, b]", by the opening bracket at the cursor.
  [[nodiscard]] std::vector<TileExpression> list(const std::string& what);
  [[nodiscard]] std::vector<int> integers(const std::string& what);

  template <typename Value, std::size_t n>
  [[nodiscard]] Value word(const Word<Value> (&words)[n], const std::string& what) {
    const auto found_word = find_word(words, peek().text);
    if (!found_word) fail("expected " + what + ": " + list_of(words) + "; found " + found());
    ++at_;
    return *found_word;
  }

 private:
  [[nodiscard]] bool ends_expression(std::initializer_list<std::string_view> stops) const;
  void check_syntax(std::string_view text) const;

  std::string_view text_;
  std::vector<expr::Token> tokens_;
  std::size_t at_ = 0;
};

/// Words that begin a statement or a clause. They name nothing.
[[nodiscard]] bool is_tl_word(std::string_view name) noexcept;

}  // namespace tilejit::program
