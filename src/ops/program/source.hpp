#pragma once

#include <string>
#include <string_view>

#include "expr/message.hpp"
#include "tilejit/program.hpp"

namespace tilejit::program {

/// The TL text of a program that is checked, for messages.
class Source {
 public:
  /// Keeps a view of `text`.
  explicit Source(std::string_view text) : text_(text) {}

  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  /// The place in a JSON descriptor that errors name; empty for TL text.
  void set_where(std::string where) { where_ = std::move(where); }
  [[nodiscard]] const std::string& where() const noexcept { return where_; }

  /// Throws Error{invalid_formula} with the line and a caret.
  [[noreturn]] void fail_at(std::size_t position, const std::string& message) const;
  /// The same at the first `word` in the statement, after `after` if that is not empty.
  [[noreturn]] void fail(const TilePlace& statement, std::string_view word,
                         const std::string& message, std::string_view after = {}) const;
  /// The expression at `place`, so that messages show its line.
  [[nodiscard]] expr::SourceText part(const TilePlace& place) const;
  [[nodiscard]] std::size_t line(const TilePlace& place) const {
    return expr::line_number(text_, place.begin);
  }

 private:
  std::string_view text_;
  std::string where_;
};

/// The place of `word` as a whole word in `text` from `begin` on; npos if there is none.
[[nodiscard]] std::size_t find_whole_word(std::string_view text, std::string_view word,
                                          std::size_t begin);

}  // namespace tilejit::program
