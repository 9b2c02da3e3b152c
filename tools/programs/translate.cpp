#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "common/command.hpp"
#include "common/files.hpp"
#include "common/options.hpp"
#include "tilejit/error.hpp"
#include "tilejit/program.hpp"

namespace tilejit::cli {
namespace {

constexpr std::uintmax_t kLargestProgram = 16u << 20;  // bytes; JSON is longer than TL text

struct TranslateOptions {
  std::string file;
  std::string to = "auto";
};

/// Whether JSON text describes a formula. Text that is no JSON is left to the reader of programs.
bool is_formula(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  return json.is_object() && json.value("op", nlohmann::json("fused")) == "fused";
}

void run(const TranslateOptions& options) {
  const std::string text = read_file(options.file, kLargestProgram);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_json = first != std::string::npos && text[first] == '{';
  const bool to_text = options.to == "tl" || (options.to == "auto" && is_json);
  try {
    const TileProgram program =
        is_json && is_formula(text) ? to_program(parse_fused(text)) : parse_program(text);
    fmt::print("{}", to_text ? to_tl(program) : to_json(program) + '\n');
  } catch (const Error& error) {
    throw Error(error.code(),
                (options.file == "-" ? "standard input" : options.file) + ": " + error.what());
  }
}

}  // namespace

void add_translate(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "translate", "Print a tile program as JSON, or a program or formula in JSON as TL text");
  auto options = std::make_shared<TranslateOptions>();
  command
      ->add_option("PROGRAM", options->file,
                   "A program as TL text or JSON, or the spec of a formula; - for standard input")
      ->type_name("FILE")
      ->required();
  command->add_option("--to", options->to, "The form to print; auto: the other one")
      ->type_name("auto|tl|json")
      ->check(one_of({"auto", "tl", "json"}))
      ->capture_default_str();
  command->footer(
      "Examples:\n"
      "  tilejit translate examples/programs/vector_add.tl > vector_add.json\n"
      "  tilejit translate vector_add.json\n"
      "  tilejit translate examples/catalogue/softmax.json > softmax.tl");
  command->callback([options] { run(*options); });
}

}  // namespace tilejit::cli
