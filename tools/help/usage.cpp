#include "help/usage.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "common/mistake.hpp"
#include "tilejit/error.hpp"
#include "tilejit/target.hpp"

namespace tilejit::cli {
namespace {

constexpr const char* kExamples = "Examples:\n";

std::vector<std::string> names_of(const CLI::Option& option) {
  if (option.get_positional()) return {option.get_name()};
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

OptionUsage option_usage(const CLI::Option& option) {
  OptionUsage usage{.names = names_of(option),
                    .value = option.get_items_expected_max() == 0 ? "" : option.get_type_name(),
                    .standard = option.get_default_str(),
                    .description = option.get_description(),
                    .required = option.get_required(),
                    .repeated = option.get_items_expected_max() > 1};
  for (const CLI::Option* other : option.get_needs()) {
    usage.description += fmt::format("; with {}", other->get_name());
  }
  for (const CLI::Option* other : option.get_excludes()) {
    usage.description += fmt::format("; not with {}", other->get_name());
  }
  return usage;
}

void split_footer(CommandUsage& usage, const std::string& footer) {
  const std::size_t at = footer.find(kExamples);
  usage.notes = footer.substr(0, at);
  if (at != std::string::npos) usage.examples = footer.substr(at + std::string(kExamples).size());
  while (usage.notes.ends_with(' ') || usage.notes.ends_with('\n')) usage.notes.pop_back();
  const std::size_t gap = usage.examples.find("\n\n");  // notes follow the examples
  if (gap == std::string::npos) return;
  usage.notes += (usage.notes.empty() ? "" : "\n") + usage.examples.substr(gap + 2);
  usage.examples.resize(gap);
}

std::vector<std::string> all_targets() {
  std::vector<std::string> targets;
  for (int number = 75; number <= 121; ++number) {
    for (const char* feature : {"", "f", "a"}) {
      const std::string name = fmt::format("sm_{}{}", number, feature);
      try {
        targets.push_back(to_string(parse_target(name)));
      } catch (const Error&) {
        // There is no such architecture.
      }
    }
  }
  return targets;
}

}  // namespace

ValueKind OptionUsage::kind() const {
  if (value.empty()) return ValueKind::none;
  if (!words().empty()) return ValueKind::words;
  if (value.find("FILE") != std::string::npos) return ValueKind::files;
  if (value.find("FOLDER") != std::string::npos) return ValueKind::folders;
  return ValueKind::other;
}

std::vector<std::string> OptionUsage::words() const {
  if (value.starts_with("TARGET")) return all_targets();
  std::vector<std::string> result;
  if (value.find('|') == std::string::npos) return result;
  for (const std::string& word : CLI::detail::split(value, '|')) {
    const bool placeholder = word.front() >= 'A' && word.front() <= 'Z';
    if (!placeholder) result.push_back(word);
  }
  return result;
}

CommandUsage usage_of(const CLI::App& app) {
  CommandUsage usage{.name = app.get_name(),
                     .path = path_of(app),
                     .group = app.get_group() == "Subcommands" ? "Commands" : app.get_group(),
                     .description = app.get_description(),
                     .notes = {},
                     .examples = {},
                     .needs_command = app.get_require_subcommand_min() > 0,
                     .arguments = {},
                     .options = {},
                     .commands = {}};
  split_footer(usage, app.get_footer());
  for (const CLI::Option* option : app.get_options()) {
    auto& list = option->get_positional() ? usage.arguments : usage.options;
    list.push_back(option_usage(*option));
  }
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    usage.commands.push_back(usage_of(*command));
  }
  return usage;
}

std::vector<std::string> groups_of(const CommandUsage& command) {
  std::vector<std::string> groups;
  for (const CommandUsage& sub : command.commands) {
    if (std::ranges::count(groups, sub.group) == 0) groups.push_back(sub.group);
  }
  return groups;
}

std::string synopsis_of(const CommandUsage& command) {
  std::string text = command.path + " [OPTIONS]";
  if (!command.commands.empty()) text += command.needs_command ? " COMMAND" : " [COMMAND]";
  for (const OptionUsage& argument : command.arguments) {
    const std::string name = argument.names.front() + (argument.repeated ? "..." : "");
    text += argument.required ? ' ' + name : " [" + name + ']';
  }
  return text;
}

std::string spelling_of(const OptionUsage& option) {
  const std::string names = fmt::format("{}", fmt::join(option.names, ", "));
  const bool argument = !option.names.front().starts_with('-');
  if (argument) return names + (option.repeated ? "..." : "");
  return option.value.empty() ? names : names + ' ' + option.value;
}

std::string description_of(const OptionUsage& option) {
  if (option.standard.empty()) return option.description;
  return fmt::format("{} (default: {})", option.description, option.standard);
}

}  // namespace tilejit::cli
