#pragma once

#include <cstdint>
#include <string>

#include "tilejit/program.hpp"

namespace tilejit::program {

/// The first line of a statement, without indent and comment: of a loop or branch only its head.
[[nodiscard]] std::string statement_text(const TileStatement::Kind& statement);
/// What a text is for: all of the program, or only what its kernel depends on beside the values of
/// its constants: no comments, examples, sweeps, values to try, or what results are compared with.
enum class TextOf : std::uint8_t { program, kernel };
/// What tilejit::to_tl returns, or the part for the kernel.
[[nodiscard]] std::string tl_text(const TileProgram& program, TextOf of = TextOf::program);

}  // namespace tilejit::program
