#pragma once

#include <span>
#include <string>

namespace CLI {
class App;
class Error;
}  // namespace CLI

namespace tilejit::cli {

/// Throws UsageError, which suggests the nearest name, if the first word is no command of `app`, or
/// the next word no command of that command. `path` is what comes before: "tilejit".
void check_command(const CLI::App& app, std::span<char* const> arguments, const std::string& path);

/// The sentence about a command line that CLI11 refused: what is wrong, and which --help to read.
[[nodiscard]] std::string mistake_of(const CLI::App& app, const CLI::Error& error);

/// The command of `app` that the words name. Throws UsageError as check_command does.
[[nodiscard]] const CLI::App& command_of(const CLI::App& app, std::span<const std::string> words);

/// "tilejit cache ls"
[[nodiscard]] std::string path_of(const CLI::App& command);

}  // namespace tilejit::cli
