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
};

/// 1 for the first line.
[[nodiscard]] std::size_t line_number(std::string_view text, std::size_t position) noexcept;

/// `text` made safe to show on one line: valid UTF-8 stays, control characters and stray bytes
/// become '?'. One column a code point.
[[nodiscard]] std::string printable(std::string_view text);

/// `text` in single quotes, printable and at most 40 bytes of it.
[[nodiscard]] std::string quoted(std::string_view text);

/// Throws Error{invalid_formula}: title, line, `message`, the line with a caret under `position` (a
/// byte of the text), and `note` on a line of its own unless empty.
[[noreturn]] void fail_at(const SourceText& source, std::size_t position,
                          const std::string& message, const std::string& note = {});

}  // namespace tilejit::expr
