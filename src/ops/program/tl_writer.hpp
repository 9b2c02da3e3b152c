#pragma once

#include <string>

#include "tilejit/program.hpp"

namespace tilejit::program {

/// The first line of a statement, without indent and comment: of a loop or branch only its head.
[[nodiscard]] std::string statement_text(const TileStatement::Kind& statement);
/// What tilejit::to_tl returns.
[[nodiscard]] std::string tl_text(const TileProgram& program);

}  // namespace tilejit::program
