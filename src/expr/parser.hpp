#pragma once

#include "expr/ast.hpp"
#include "expr/lexer.hpp"

namespace tilejit::expr {

inline constexpr std::size_t kMaxTextBytes = 65536;
inline constexpr int kMaxNesting = 200;

/// Parses statements by the grammar in docs/formulas.md. The views in the result point into the
/// text of `source`. Throws Error{invalid_formula}.
[[nodiscard]] ParsedText parse_statements(SourceText source);
/// Parses the text of a function: one expression, which may span lines.
[[nodiscard]] ParsedText parse_expression(SourceText source, Dialect dialect = {});

}  // namespace tilejit::expr
