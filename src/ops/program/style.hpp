#pragma once

#include <string>
#include <string_view>

#include "expr/lexer.hpp"

namespace tilejit::program {

/// What expressions of programs have besides formulas: block_idx.x.
inline constexpr expr::Dialect kExpressionDialect{.dotted_names = true};

/// `text` with the blanks that the language's style has between its tokens, on one line. Text that
/// has no tokens (an unknown character) stays as it is.
[[nodiscard]] std::string styled(std::string_view text);

/// `text` in double quotes, with \n, \t, \" and \\.
[[nodiscard]] std::string in_tl_quotes(std::string_view text);

}  // namespace tilejit::program
