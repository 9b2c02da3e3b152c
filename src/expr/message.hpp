#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tilejit::expr {

/// A text that errors point into.
struct SourceText {
  std::string_view text;
  std::string title;  ///< "formula" or "function NAME"
  std::string where;  ///< "/formula" or "/functions/NAME/expr"
  /// The text that `text` is a part of. Messages show its lines. Empty: `text` is the whole.
  std::string_view whole = {};
};

/// The number of the line that holds `position`, counted from 1.
[[nodiscard]] std::size_t line_number(std::string_view text, std::size_t position) noexcept;
/// The same in the whole text, if `source` is a part of one.
[[nodiscard]] std::size_t line_number(const SourceText& source, std::size_t position) noexcept;

/// `text` made safe to show on one line: valid UTF-8 stays, control characters and stray bytes
/// become '?'. Each code point takes one column.
[[nodiscard]] std::string printable(std::string_view text);

/// The first 40 bytes of `text`, printable and in single quotes.
[[nodiscard]] std::string quoted(std::string_view text);

/// Throws Error{invalid_formula}. The message holds the title, the line number, `message`, the line
/// with a caret under `position` (a byte offset), and `note`, if there is one, on its own line.
[[noreturn]] void fail_at(const SourceText& source, std::size_t position,
                          const std::string& message, const std::string& note = {});

}  // namespace tilejit::expr
