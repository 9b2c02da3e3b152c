// The commands help, completion and man, which describe the command itself.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "common/command.hpp"
#include "common/files.hpp"
#include "common/mistake.hpp"
#include "common/options.hpp"
#include "help/completion.hpp"
#include "help/manual.hpp"
#include "help/usage.hpp"

namespace tilejit::cli {
namespace {

constexpr const char* kShells = "bash|zsh|fish";

std::string completion(const CommandUsage& usage, const std::string& shell) {
  if (shell == "bash") return bash_completion(usage);
  return shell == "zsh" ? zsh_completion(usage) : fish_completion(usage);
}

// Writes one page for the whole, and one for each command.
void write_pages(const CommandUsage& usage, const std::filesystem::path& folder) {
  write_file(folder / manual_name(usage), manual_page(usage));
  for (const CommandUsage& command : usage.commands) {
    write_file(folder / manual_name(command), manual_page(command));
  }
}

void add_help_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("help", "Show the help of a command");
  auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("COMMAND", *words, "Its name, and the name of its own command")
      ->type_name("NAME");
  command->footer("Examples:\n  tilejit help run\n  tilejit help cache ls");
  command->callback([words, &app] {
    const CLI::App& asked = command_of(app, *words);
    fmt::print("{}", app.get_formatter()->make_help(&asked, "", CLI::AppFormatMode::Normal));
  });
}

void add_completion(CLI::App& app) {
  CLI::App* command = app.add_subcommand("completion", "Print completions for a shell");
  auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->type_name(kShells)
      ->required()
      ->check(one_of({"bash", "zsh", "fish"}));
  command->footer(
      "Examples:\n"
      "  source <(tilejit completion bash)\n"
      "  tilejit completion zsh > ~/.zfunc/_tilejit\n"
      "  tilejit completion fish > ~/.config/fish/completions/tilejit.fish");
  command->callback([shell, &app] { write_file("-", completion(usage_of(app), *shell)); });
}

void add_man(CLI::App& app) {
  CLI::App* command = app.add_subcommand("man", "Print the manual page of a command");
  auto words = std::make_shared<std::vector<std::string>>();
  auto folder = std::make_shared<std::string>();
  command->add_option("COMMAND", *words, "Its name; default: the page of all")->type_name("NAME");
  command->add_option("--folder", *folder, "Write all pages into this folder instead")
      ->type_name("FOLDER");
  command->footer(
      "Examples:\n"
      "  tilejit man run | man -l -\n"
      "  tilejit man --folder ~/.local/share/man/man1");
  command->callback([words, folder, &app] {
    if (folder->empty()) return write_file("-", manual_page(usage_of(command_of(app, *words))));
    if (!words->empty()) throw UsageError("--folder takes all pages; leave out the command");
    write_pages(usage_of(app), *folder);
  });
}

}  // namespace

void add_about_itself(CLI::App& app) {
  add_help_command(app);
  add_completion(app);
  add_man(app);
}

}  // namespace tilejit::cli
