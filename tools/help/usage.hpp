#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tilejit::cli {

/// What stands in place of an option's value.
enum class ValueKind : std::uint8_t { none, words, files, folders, other };

/// An option, or an argument that stands without a name.
struct OptionUsage {
  std::vector<std::string> names;  ///< "-o", "--output"; of an argument "SPEC"
  std::string value;               ///< "FILE"; empty: a flag
  std::string standard;            ///< the default, if it is worth a word
  std::string description;
  bool required = false, repeated = false;

  [[nodiscard]] ValueKind kind() const;
  /// What completes a value of ValueKind::words.
  [[nodiscard]] std::vector<std::string> words() const;
};

/// All that help, manuals and completions say of a command; read off the parser itself.
struct CommandUsage {
  std::string name, path;  ///< "ls", "tilejit cache ls"
  std::string group, description;
  std::string notes, examples;  ///< before "Examples:", and the lines after it
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
/// With its default.
[[nodiscard]] std::string description_of(const OptionUsage& option);

}  // namespace tilejit::cli
