#pragma once

#include <string>

#include "help/usage.hpp"

namespace tilejit::cli {

/// A page of section 1 for man, in troff's man macros. Commands of the command are sections.
[[nodiscard]] std::string manual_page(const CommandUsage& command);
/// "tilejit-run.1"
[[nodiscard]] std::string manual_name(const CommandUsage& command);

}  // namespace tilejit::cli
