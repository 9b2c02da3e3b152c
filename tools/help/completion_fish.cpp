#include <fmt/format.h>

#include "help/completion.hpp"
#include "help/completion_names.hpp"

namespace tilejit::cli {
namespace {

constexpr const char* kFishBegin =
    R"(# Completions of tilejit for fish, made by `tilejit completion fish`.
# For this shell: tilejit completion fish | source

function __tilejit_is_at --description 'Whether the command typed so far is this one'
    set -l words (commandline -opc)
    set -l command tilejit
    for word in $words[2..-1]
        contains -- "$command $word" $__tilejit_commands
        and set command "$command $word"
    end
    test "$command" = "$argv[1]"
end

)";

// fish reads \' within single quotes; it does not read '\''.
std::string fish_quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + '\'';
}

std::string names_of(const OptionUsage& option) {
  std::string text;
  for (const std::string& name : option.names) {
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  return text;
}

std::string value_of(const OptionUsage& option) {
  switch (option.kind()) {
    case ValueKind::none: return "";
    case ValueKind::words: return " -xa " + fish_quoted(joined_words(option.words()));
    case ValueKind::files: return " -rF";
    case ValueKind::folders: return " -xa '(__fish_complete_directories)'";
    case ValueKind::other: break;
  }
  return " -x";
}

std::string command_text(const CommandUsage& command) {
  const std::string here = fmt::format("complete -c tilejit -n {}",
                                       fish_quoted("__tilejit_is_at " + fish_quoted(command.path)));
  std::string text;
  for (const CommandUsage& sub : command.commands) {
    text += fmt::format("{} -fa {} -d {}\n", here, sub.name, fish_quoted(sub.description));
  }
  for (const OptionUsage& argument : command.arguments) {
    if (argument.kind() != ValueKind::words) continue;
    text += fmt::format("{} -fa {}\n", here, fish_quoted(joined_words(argument.words())));
  }
  if (takes_files(command)) text += here + " -F\n";
  for (const OptionUsage& option : command.options) {
    text += fmt::format("{}{}{} -d {}\n", here, names_of(option), value_of(option),
                        fish_quoted(option.description));
  }
  return text;
}

}  // namespace

std::string fish_completion(const CommandUsage& command) {
  std::string paths, text;
  for (const CommandUsage* one : all_commands(command)) {
    if (one != &command) paths += ' ' + fish_quoted(one->path);
    text += command_text(*one);
  }
  return fmt::format("{}set -g __tilejit_commands{}\n\ncomplete -c tilejit -f\n{}", kFishBegin,
                     paths, text);
}

}  // namespace tilejit::cli
