#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tilejit::cli {

/// The kind of an option's value.
enum class ValueKind : std::uint8_t { none, words, files, folders, other };

/// An option, or an argument, which has no name on the command line.
struct OptionUsage {
  std::vector<std::string> names;  ///< "-o", "--output"; "SPEC" if an argument
  std::string value;               ///< "FILE"; empty if a flag
  std::string standard;            ///< the default, if it deserves mention
  std::string description;
  bool required = false, repeated = false;

  [[nodiscard]] ValueKind kind() const;
  /// The words that complete a value of ValueKind::words.
  [[nodiscard]] std::vector<std::string> words() const;
};

/// Everything that help, manuals and completions say about a command, read off the parser itself.
struct CommandUsage {
  std::string name, path;  ///< "ls", "tilejit cache ls"
  std::string group, description;
  std::string notes, examples;  ///< the text before "Examples:", and the lines after it
  bool needs_command = false;
  std::vector<OptionUsage> arguments, options;
  std::vector<CommandUsage> commands;
};

[[nodiscard]] CommandUsage usage_of(const CLI::App& app);

/// The names of the groups of commands, in order.
[[nodiscard]] std::vector<std::string> groups_of(const CommandUsage& command);
/// "tilejit run [OPTIONS] SPEC..."
[[nodiscard]] std::string synopsis_of(const CommandUsage& command);
/// "-o, --output FILE"
[[nodiscard]] std::string spelling_of(const OptionUsage& option);
/// The option's description, with its default.
[[nodiscard]] std::string description_of(const OptionUsage& option);

}  // namespace tilejit::cli
