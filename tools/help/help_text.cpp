#include "help/help_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "common/terminal.hpp"

namespace tilejit::cli {
namespace {

constexpr std::size_t kColumn = 26;   // column at which descriptions begin
constexpr std::size_t kWidest = 100;  // columns of a line, even on wider terminals

std::string heading(const std::string& text) {
  return inked(Ink::bold, text, stdout);
}

// Breaks `text` at spaces. All lines except the first are indented.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t width) {
  const std::size_t room = width > indent + 20 ? width - indent : 20;
  std::string result, line;
  for (const std::string& word : CLI::detail::split(text, ' ')) {
    if (!line.empty() && line.size() + 1 + word.size() > room) {
      result += line + '\n' + std::string(indent, ' ');
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return result + line;
}

// "  --kernel NAME           Only the kernel of this name"
std::string entry(const std::string& name, const std::string& description, std::size_t width) {
  const bool fits = name.size() + 4 <= kColumn;
  const std::size_t blanks = fits ? kColumn - name.size() - 2 : kColumn;
  return fmt::format("  {}{}{}{}\n", inked(Ink::blue, name, stdout), fits ? "" : "\n",
                     std::string(blanks, ' '), wrapped(description, kColumn, width));
}

std::string entries(const char* title, const std::vector<OptionUsage>& options, std::size_t width) {
  if (options.empty()) return "";
  std::string text = '\n' + heading(title) + '\n';
  for (const OptionUsage& option : options) {
    text += entry(spelling_of(option), description_of(option), width);
  }
  return text;
}

std::string commands_text(const CommandUsage& command, std::size_t width) {
  std::string text;
  for (const std::string& group : groups_of(command)) {
    text += '\n' + heading(group + ':') + '\n';
    for (const CommandUsage& sub : command.commands) {
      if (sub.group == group) text += entry(sub.name, sub.description, width);
    }
  }
  return text;
}

}  // namespace

std::string help_text(const CommandUsage& command, std::size_t width) {
  std::string text = wrapped(command.description, 0, width) + "\n\n";
  text += heading("Usage:") + ' ' + synopsis_of(command) + '\n';
  text += entries("Arguments:", command.arguments, width);
  text += commands_text(command, width);
  text += entries("Options:", command.options, width);
  if (!command.notes.empty()) text += '\n' + wrapped(command.notes, 0, width) + '\n';
  if (!command.examples.empty()) {
    text += '\n' + heading("Examples:") + '\n' + command.examples + '\n';
  }
  return text;
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string /*name*/,
                                     CLI::AppFormatMode /*mode*/) const {
  return help_text(usage_of(*app), std::min(kWidest, terminal_width(stdout)));
}

}  // namespace tilejit::cli
