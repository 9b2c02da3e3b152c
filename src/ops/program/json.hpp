#pragma once

#include <string>
#include <string_view>

#include "spec/json_text.hpp"
#include "spec/problems.hpp"
#include "tilejit/program.hpp"

namespace tilejit::program {

/// Reads the members of one descriptor. Faults go to `problems` with JSON pointers below `where`.
[[nodiscard]] TileProgram read_json(const spec::Json& json, const std::string& where,
                                    spec::Problems& problems);
/// The same as an operation.
[[nodiscard]] Operation read_program(const spec::Json& json, const std::string& where,
                                     const SpecOptions& options, spec::Problems& problems);
/// JSON that read_json reads back.
[[nodiscard]] spec::Json program_json(const TileProgram& program);
/// Whether `text` is TL text: its first word that is not in a comment begins a line of TL.
[[nodiscard]] bool is_tl(std::string_view text);
/// A descriptor that holds the TL text `text`, with its sweep. Throws what read_tl throws.
[[nodiscard]] spec::Json descriptor_of_text(std::string_view text);

}  // namespace tilejit::program
