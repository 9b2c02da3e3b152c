#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "common/command.hpp"
#include "common/files.hpp"
#include "tilejit/error.hpp"
#include "tilejit/program.hpp"

namespace tilejit::cli {
namespace {

constexpr std::uintmax_t kLargestText = 2u << 20;  // bytes

struct FmtOptions {
  std::vector<std::string> files;
  bool check = false;
};

std::string formatted(const std::string& path, const std::string& text) {
  try {
    return to_tl(parse_program(text));
  } catch (const Error& error) {
    throw Error(error.code(), path + ": " + error.what());
  }
}

void run(const FmtOptions& options) {
  std::string different;
  for (const std::string& path : options.files) {
    const std::string text = read_file(path, kLargestText);
    const std::string made = formatted(path, text);
    if (options.check) {
      if (made != text) different += (different.empty() ? "" : ", ") + path;
    } else if (path == "-") {
      fmt::print("{}", made);
    } else if (made != text) {
      write_file(path, made);
    }
  }
  if (!different.empty()) throw Failure("not in the style of tilejit fmt: " + different);
}

}  // namespace

void add_fmt(CLI::App& app) {
  CLI::App* command = app.add_subcommand("fmt", "Write TL texts of tile programs in one style");
  auto options = std::make_shared<FmtOptions>();
  command->add_option("PROGRAM", options->files, "Files to rewrite, - for standard input to output")
      ->type_name("FILE")
      ->required();
  command->add_flag("--check", options->check, "Change nothing; fail if a file would change");
  command->footer(
      "Examples:\n  tilejit fmt kernel.tl\n  tilejit fmt --check examples/programs/*.tl");
  command->callback([options] { run(*options); });
}

}  // namespace tilejit::cli
