#pragma once

#include "expr/ast.hpp"

namespace tilejit::expr {

inline constexpr std::size_t kMaxTextBytes = 65536;
inline constexpr int kMaxNesting = 200;

/// Parses statements. The grammar is in docs/formulas.md. The views of the result point into the
/// text of `source`. Throws Error{invalid_formula}.
[[nodiscard]] ParsedText parse_statements(SourceText source);
/// Parses one expression, on any number of lines: the text of a function.
[[nodiscard]] ParsedText parse_expression(SourceText source);

}  // namespace tilejit::expr
