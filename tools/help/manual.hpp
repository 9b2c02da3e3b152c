#pragma once

#include <string>

#include "help/usage.hpp"

namespace tilejit::cli {

/// A page of section 1 for man, in troff's man macros. Subcommands are sections of the page.
[[nodiscard]] std::string manual_page(const CommandUsage& command);
/// "tilejit-run.1"
[[nodiscard]] std::string manual_name(const CommandUsage& command);

}  // namespace tilejit::cli
