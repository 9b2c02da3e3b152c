#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "expr/message.hpp"

namespace tilejit::expr {

/// One token of a formula.
struct Token {
  enum class Kind : unsigned char {
    name,       ///< identifier or keyword
    integer,    ///< decimal or 0x hexadecimal digits
    floating,   ///< with a point or an exponent
    symbol,     ///< operator or punctuation
    separator,  ///< newline outside parentheses, or ';'
    string,     ///< in double quotes, which are a part of the text; Dialect::statements only
    comment,    ///< from '#' to the end of the line; Dialect::statements only
    end,        ///< always the last token
  };
  Kind kind = Kind::end;
  std::string_view text;     ///< a view into the source
  std::size_t position = 0;  ///< byte offset in the source

  [[nodiscard]] bool is(std::string_view spelling) const noexcept {
    return (kind == Kind::symbol || kind == Kind::name) && text == spelling;
  }
};

/// What a text may hold besides what formulas hold.
struct Dialect {
  bool dotted_names = false;  ///< block_idx.x is one name
  bool statements = false;    ///< brackets, ':', strings, and comments as tokens
};

/// Splits a text into tokens. Blanks, and comments unless `dialect` keeps them, are dropped. Throws
/// Error{invalid_formula}.
[[nodiscard]] std::vector<Token> tokenize(const SourceText& source, Dialect dialect = {});

}  // namespace tilejit::expr
