#include "help/manual.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tilejit/version.hpp"

namespace tilejit::cli {
namespace {

// `text` escaped for troff, for any place in a line.
std::string roff(const std::string& text) {
  std::string result;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) result += "\\&";
    line_begins = c == '\n';
    switch (c) {
      case '\\': result += "\\e"; break;
      case '-': result += "\\-"; break;
      case '\'': result += "\\(aq"; break;
      case '`': result += "\\(ga"; break;
      case '^': result += "\\(ha"; break;
      case '~': result += "\\(ti"; break;
      default: result += c;
    }
  }
  return result;
}

std::string bold(const std::string& text) {
  return "\\fB" + roff(text) + "\\fR";
}

std::string italic(const std::string& text) {
  return "\\fI" + roff(text) + "\\fR";
}

std::string title_of(const CommandUsage& command) {
  std::string title = command.path;
  std::ranges::replace(title, ' ', '-');
  return title;
}

std::string item(const OptionUsage& option) {
  std::string names;
  for (const std::string& name : option.names) {
    names += (names.empty() ? "" : ", ") + (name.starts_with('-') ? bold(name) : italic(name));
  }
  const bool named = option.names.front().starts_with('-');
  if (named && !option.value.empty()) names += ' ' + italic(option.value);
  return fmt::format(".TP\n{}\n{}\n", names, roff(description_of(option)));
}

std::string items(const CommandUsage& command) {
  std::string text;
  for (const OptionUsage& argument : command.arguments) text += item(argument);
  for (const OptionUsage& option : command.options) text += item(option);
  return text;
}

// A list of the subcommands of a command whose subcommands have pages of their own.
std::string list_of_commands(const CommandUsage& command) {
  std::string text = ".SH COMMANDS\n";
  for (const std::string& group : groups_of(command)) {
    text += fmt::format(".SS {}\n", roff(group));
    for (const CommandUsage& sub : command.commands) {
      if (sub.group != group) continue;
      text += fmt::format(".TP\n{}\n{}\n", bold(sub.name), roff(sub.description));
    }
  }
  return text;
}

std::string examples(const std::string& lines) {
  return ".nf\n" + roff(lines) + "\n.fi\n";
}

std::string sections_of_commands(const CommandUsage& command) {
  std::string text = ".SH COMMANDS\n";
  for (const CommandUsage& sub : command.commands) {
    text += fmt::format(".SS {}\n{}.\n", roff(synopsis_of(sub)), roff(sub.description));
    text += items(sub);
    if (!sub.notes.empty()) text += ".PP\n" + roff(sub.notes) + '\n';
    if (!sub.examples.empty()) text += ".PP\n" + examples(sub.examples);
  }
  return text;
}

}  // namespace

std::string manual_name(const CommandUsage& command) {
  return title_of(command) + ".1";
}

std::string manual_page(const CommandUsage& command) {
  const bool is_root = command.path == command.name;
  std::string text =
      fmt::format(".TH {} 1 \"\" \"tilejit {}\" \"tilejit\"\n", roff(title_of(command)), version());
  text += fmt::format(".SH NAME\n{} \\- {}\n", roff(title_of(command)), roff(command.description));
  text += fmt::format(".SH SYNOPSIS\n{}\n", bold(synopsis_of(command)));
  if (!command.notes.empty()) text += ".SH DESCRIPTION\n" + roff(command.notes) + '\n';
  if (!command.commands.empty()) {
    text += is_root ? list_of_commands(command) : sections_of_commands(command);
  }
  text += ".SH OPTIONS\n" + items(command);
  text +=
      ".SH EXIT STATUS\n.TP\n0\nDone.\n.TP\n1\nA step failed, or a result is wrong.\n.TP\n2\nWrong "
      "usage, spec or input file.\n";
  if (!command.examples.empty()) text += ".SH EXAMPLES\n" + examples(command.examples);
  return text + ".SH SEE ALSO\n" +
         (is_root ? bold("tilejit-run") + "(1), and so for each command\n"
                  : bold("tilejit") + "(1)\n");
}

}  // namespace tilejit::cli
