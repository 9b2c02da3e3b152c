#pragma once

#include <string>
#include <vector>

#include "help/usage.hpp"

namespace tilejit::cli {

/// `command` and all commands below it. Each command comes before its own subcommands.
[[nodiscard]] std::vector<const CommandUsage*> all_commands(const CommandUsage& command);
/// All names of all options.
[[nodiscard]] std::vector<std::string> option_names(const CommandUsage& command);
/// The names of the command's subcommands, and the words that its first argument takes.
[[nodiscard]] std::vector<std::string> first_words(const CommandUsage& command);
/// Whether any argument is a file.
[[nodiscard]] bool takes_files(const CommandUsage& command);

[[nodiscard]] std::string joined_words(const std::vector<std::string>& words);
/// `text` in single quotes, in a form that all three shells read.
[[nodiscard]] std::string shell_quoted(const std::string& text);

}  // namespace tilejit::cli
