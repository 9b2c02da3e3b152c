#include <fmt/format.h>

#include <algorithm>

#include "help/completion.hpp"
#include "help/completion_names.hpp"

namespace tilejit::cli {
namespace {

// "_tilejit_cache_ls"
std::string function_of(const CommandUsage& command) {
  std::string name = '_' + command.path;
  std::ranges::replace_if(
      name, [](char c) { return c == ' ' || c == '-'; }, '_');
  return name;
}

// Escapes colons and brackets, which mean something to _arguments and _describe.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string action_of(const OptionUsage& option) {
  switch (option.kind()) {
    case ValueKind::words: return '(' + joined_words(option.words()) + ')';
    case ValueKind::files: return "_files";
    case ValueKind::folders: return "_files -/";
    case ValueKind::none:
    case ValueKind::other: break;
  }
  return " ";  // nothing is offered
}

std::string option_specs(const OptionUsage& option) {
  std::string text;
  for (const std::string& name : option.names) {
    std::string spec = fmt::format("*{}[{}]", name, escaped(option.description));
    if (!option.value.empty()) {
      spec += fmt::format(":{}:{}", escaped(option.value), action_of(option));
    }
    text += fmt::format(" \\\n    {}", shell_quoted(spec));
  }
  return text;
}

std::string argument_spec(const OptionUsage& argument) {
  const std::string spec = fmt::format("{}:{}:{}", argument.repeated ? "*" : "",
                                       escaped(argument.names.front()), action_of(argument));
  return fmt::format(" \\\n    {}", shell_quoted(spec));
}

std::string dispatch(const CommandUsage& command) {
  std::string names, cases;
  for (const CommandUsage& sub : command.commands) {
    names +=
        fmt::format("      {}\n", shell_quoted(escaped(sub.name) + ':' + escaped(sub.description)));
    cases += fmt::format("        {}) {} ;;\n", sub.name, function_of(sub));
  }
  return fmt::format(
      "  case $state in\n    command)\n      local -a commands\n      commands=(\n{}      )\n"
      "      _describe command commands ;;\n    rest)\n      case $line[1] in\n{}      esac ;;\n"
      "  esac\n",
      names, cases);
}

std::string function_text(const CommandUsage& command) {
  std::string text = function_of(command) + "() {\n";
  const bool has_commands = !command.commands.empty();
  if (has_commands) text += "  local state line\n  typeset -A opt_args\n";
  text += has_commands ? "  _arguments -C" : "  _arguments";
  for (const OptionUsage& option : command.options) text += option_specs(option);
  for (const OptionUsage& argument : command.arguments) text += argument_spec(argument);
  if (has_commands) text += " \\\n    '1: :->command' \\\n    '*:: :->rest'";
  text += '\n';
  if (has_commands) text += dispatch(command);
  return text + "}\n\n";
}

}  // namespace

std::string zsh_completion(const CommandUsage& command) {
  std::string text =
      "#compdef tilejit\n"
      "# Completions of tilejit for zsh, made by `tilejit completion zsh`.\n"
      "# For this shell, after compinit: source <(tilejit completion zsh)\n\n";
  for (const CommandUsage* one : all_commands(command)) text += function_text(*one);
  return text +
         "if [[ $funcstack[1] == _tilejit ]]; then\n  _tilejit \"$@\"\nelse\n"
         "  compdef _tilejit tilejit\nfi\n";
}

}  // namespace tilejit::cli
