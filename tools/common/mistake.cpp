#include "common/mistake.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

#include "common/command.hpp"
#include "common/suggestion.hpp"

namespace tilejit::cli {
namespace {

constexpr std::size_t kLongestWord = 64;  // bytes of a word that a message repeats

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

// The subcommand of `app` of this name.
const CLI::App* find_command(const CLI::App& app, const std::string& name) {
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

[[noreturn]] void fail_unknown_command(const CLI::App& app, const std::string& name,
                                       const std::string& path) {
  const std::string nearest = suggestion(name, command_names(app));
  throw UsageError(fmt::format("there is no command '{}'{} {} --help lists them",
                               name.substr(0, kLongestWord), nearest.empty() ? ";" : nearest,
                               path));
}

// The innermost command that the command line has reached.
const CLI::App& reached(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  return commands.empty() ? app : reached(*commands.back());
}

std::string quoted_words(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const std::string& word : words) {
    quoted.push_back("'" + word.substr(0, kLongestWord) + "'");
  }
  return fmt::format("{}", fmt::join(quoted, ", "));
}

// The sentence about words that the command does not take, in the order in which they were typed.
std::string about_extras(const CLI::App& command, const std::vector<std::string>& words) {
  const auto option =
      std::ranges::find_if(words, [](const std::string& word) { return word.starts_with('-'); });
  const std::string path = path_of(command);
  if (option == words.end()) {
    return fmt::format("{} takes no further {}; {} --help shows the usage", path,
                       quoted_words(words), path);
  }
  const std::string name = option->substr(0, option->find('='));
  const std::string nearest = suggestion(name, option_names(command));
  return fmt::format("{} has no option '{}'{} {} --help lists them", path,
                     name.substr(0, kLongestWord), nearest.empty() ? ";" : nearest, path);
}

// The sentence about an option without its value. CLI11's own message counts the missing values.
std::string about_missing_value(const CLI::App& command, const std::string& message) {
  const std::string name = message.substr(0, message.find(':'));
  const CLI::Option* option = command.get_option_no_throw(name);
  if (option == nullptr) return message;
  return fmt::format("{} needs a value: {} {}", name, name, option->get_type_name());
}

}  // namespace

std::string path_of(const CLI::App& command) {
  if (command.get_parent() == nullptr) return command.get_name();
  return path_of(*command.get_parent()) + ' ' + command.get_name();
}

void check_command(const CLI::App& app, std::span<char* const> arguments, const std::string& path) {
  const std::string name = arguments.empty() ? "" : arguments.front();
  if (name.empty() || name.front() == '-' || command_names(app).empty()) return;
  const CLI::App* command = find_command(app, name);
  if (command == nullptr) fail_unknown_command(app, name, path);
  check_command(*command, arguments.subspan(1), path + ' ' + name);
}

const CLI::App& command_of(const CLI::App& app, std::span<const std::string> words) {
  if (words.empty()) return app;
  const CLI::App* command = find_command(app, words.front());
  if (command == nullptr) fail_unknown_command(app, words.front(), path_of(app));
  return command_of(*command, words.subspan(1));
}

std::string mistake_of(const CLI::App& app, const CLI::Error& error) {
  const CLI::App& command = reached(app);
  const std::vector<std::string> extras = command.remaining();
  if (!extras.empty()) return about_extras(command, extras);
  std::string message = error.what();
  if (error.get_name() == "ArgumentMismatch") message = about_missing_value(command, message);
  if (message == "A subcommand is required") message = "a command is required";
  return fmt::format("{}{} {} --help shows the usage", message, message.ends_with('?') ? "" : ";",
                     path_of(command));
}

}  // namespace tilejit::cli
