#pragma once

#include <vector>

#include "program/code.hpp"
#include "tilejit/program.hpp"

namespace tilejit::program {

/// The program with the constants that `tuning` chooses, resolved and typed. Throws
/// Error{invalid_spec} for its header, with a JSON pointer, and Error{invalid_formula} for a
/// statement, with its line, a caret, and what to do.
[[nodiscard]] Code check(const TileProgram& program, const Tuning& tuning);

/// What tilejit::describe returns.
[[nodiscard]] std::string description(const TileProgram& program);

/// The constants of `program` with those values that `tuning` chooses. Throws Error{invalid_spec}.
[[nodiscard]] std::vector<TileConstant> chosen_constants(const TileProgram& program,
                                                         const Tuning& tuning);

/// The formula of `Verify` over the program's tensors; nothing if it has none.
[[nodiscard]] std::optional<Fused> verify_formula(const TileProgram& program);

}  // namespace tilejit::program
