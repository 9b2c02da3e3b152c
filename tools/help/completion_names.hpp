#pragma once

#include <string>
#include <vector>

#include "help/usage.hpp"

namespace tilejit::cli {

/// `command` and all below it, each before its own.
[[nodiscard]] std::vector<const CommandUsage*> all_commands(const CommandUsage& command);
/// All names of all options.
[[nodiscard]] std::vector<std::string> option_names(const CommandUsage& command);
/// The names of its commands, and what its first argument of words takes.
[[nodiscard]] std::vector<std::string> first_words(const CommandUsage& command);
/// Whether an argument is a file.
[[nodiscard]] bool takes_files(const CommandUsage& command);

[[nodiscard]] std::string joined_words(const std::vector<std::string>& words);
/// In single quotes, as all three shells read it.
[[nodiscard]] std::string shell_quoted(const std::string& text);

}  // namespace tilejit::cli
