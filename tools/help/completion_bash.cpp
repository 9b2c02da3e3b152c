#include <fmt/format.h>

#include "help/completion.hpp"
#include "help/completion_names.hpp"

namespace tilejit::cli {
namespace {

constexpr const char* kBashBegin =
    R"(# Completions of tilejit for bash, made by `tilejit completion bash`.
# For this shell: source <(tilejit completion bash)

_tilejit() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD - 1]}"
  local command=tilejit words='' i
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = ]]; then
    previous="${COMP_WORDS[COMP_CWORD - 2]}"
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$command ${COMP_WORDS[i]}" in
)";

constexpr const char* kBashEnd = R"(  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}

complete -o default -F _tilejit tilejit
)";

std::string reply_of(const OptionUsage& option) {
  switch (option.kind()) {
    case ValueKind::words:
      return fmt::format("COMPREPLY=($(compgen -W {} -- \"$current\"))",
                         shell_quoted(joined_words(option.words())));
    case ValueKind::folders: return "COMPREPLY=($(compgen -d -- \"$current\"))";
    case ValueKind::other: return "COMPREPLY=(); compopt +o default 2>/dev/null";
    case ValueKind::files:
    case ValueKind::none: break;
  }
  return "COMPREPLY=()";  // then bash offers files
}

// One line of `case "$command $previous"` for each option with a value.
std::string value_cases(const CommandUsage& command) {
  std::string text;
  for (const OptionUsage& option : command.options) {
    if (option.kind() == ValueKind::none) continue;
    std::string patterns;
    for (const std::string& name : option.names) {
      patterns += (patterns.empty() ? "" : "|") + shell_quoted(command.path + ' ' + name);
    }
    text += fmt::format("    {}) {}; return ;;\n", patterns, reply_of(option));
  }
  return text;
}

}  // namespace

std::string bash_completion(const CommandUsage& command) {
  std::string paths, values, words;
  for (const CommandUsage* one : all_commands(command)) {
    if (one != &command) paths += (paths.empty() ? "" : "|") + shell_quoted(one->path);
    values += value_cases(*one);
    // Words of commands and of arguments are offered first, options only after a '-'.
    const std::string first = joined_words(first_words(*one));
    words += fmt::format("    {}) words={}; [[ $current == -* ]] && words={} ;;\n",
                         shell_quoted(one->path), shell_quoted(first),
                         shell_quoted(joined_words(option_names(*one))));
  }
  return fmt::format(
      "{}      {}) command+=\" ${{COMP_WORDS[i]}}\" ;;\n    esac\n  done\n"
      "  case \"$command $previous\" in\n{}  esac\n  case \"$command\" in\n{}{}",
      kBashBegin, paths, values, words, kBashEnd);
}

}  // namespace tilejit::cli
