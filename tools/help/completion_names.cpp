#include "help/completion_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tilejit::cli {

std::vector<const CommandUsage*> all_commands(const CommandUsage& command) {
  std::vector<const CommandUsage*> all = {&command};
  for (const CommandUsage& sub : command.commands) {
    for (const CommandUsage* below : all_commands(sub)) all.push_back(below);
  }
  return all;
}

std::vector<std::string> option_names(const CommandUsage& command) {
  std::vector<std::string> names;
  for (const OptionUsage& option : command.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

std::vector<std::string> first_words(const CommandUsage& command) {
  std::vector<std::string> words;
  for (const CommandUsage& sub : command.commands) words.push_back(sub.name);
  for (const OptionUsage& argument : command.arguments) {
    const std::vector<std::string> more = argument.words();
    words.insert(words.end(), more.begin(), more.end());
  }
  return words;
}

bool takes_files(const CommandUsage& command) {
  return std::ranges::any_of(command.arguments, [](const OptionUsage& argument) {
    return argument.kind() == ValueKind::files;
  });
}

std::string joined_words(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

std::string shell_quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c;
    }
  }
  return result + '\'';
}

}  // namespace tilejit::cli
