#pragma once

#include <string>
#include <string_view>

#include "tilejit/dim.hpp"

namespace tilejit::layout {

/// Throws Error{invalid_layout}: "expected <what>, found ... at position N of '...'".
[[noreturn]] void fail_at(std::string_view text, std::size_t position, const std::string& what);

/// A cursor over layout text: skips blanks, reads tokens, and reports mistakes with their position.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  /// The next character that is not blank, or 0 at the end.
  char peek();
  /// Takes `c` if it is the next character.
  bool accept(char c);
  /// Reads a known integer, a symbol, "?", "?{div=8}", a function, or a product of these; or
  /// coordinate steps, "4@1".
  Dim read_dim();
  /// Reads a known integer.
  std::int64_t read_integer();
  /// Throws unless the whole text was read.
  void expect_end();
  /// Calls fail_at for the next character that is not blank.
  [[noreturn]] void fail(const std::string& what);

 private:
  Dim read_factor();
  Dim read_unknown();
  Dim read_name();
  Dim read_step(const Dim& steps);
  template <typename Make>
  Dim made_at(std::size_t begin, Make make) const;

  std::string_view text_;
  std::size_t pos_ = 0;
  int nesting_ = 0;  // depth of nested functions
};

}  // namespace tilejit::layout
