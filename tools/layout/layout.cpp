#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "common/command.hpp"
#include "common/sentence.hpp"
#include "layout/layout_commands.hpp"
#include "layout/layout_operations.hpp"
#include "tilejit/error.hpp"

namespace tilejit::cli {
namespace {

// The command line's arguments for one operation.
struct Given {
  struct Text {
    std::string text;
    bool flag = false;
    CLI::Option* option = nullptr;
  };
  std::vector<Text> texts;  // one per parameter; CLI11 keeps their addresses
  bool json = false;
};

std::string upper(std::string_view name) {
  std::string result(name);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return std::toupper(c); });
  return result;
}

std::string dashed(std::string_view name) {
  std::string result = "--" + std::string(name);
  std::ranges::replace(result, '_', '-');
  return result;
}

Argument read_argument(const Parameter& parameter, const Given::Text& given) {
  if (parameter.kind == Kind::flag) return given.flag;
  if (given.option->count() == 0) return {};
  try {
    return read_text(parameter.kind, given.text);
  } catch (const Error& error) {
    throw UsageError(fmt::format("{}: {}", upper(parameter.name), sentence(error)));
  }
}

void answer(const Operation& operation, const Given& given) {
  Arguments arguments;
  for (std::size_t i = 0; i < operation.parameters.size(); ++i) {
    arguments.push_back(read_argument(operation.parameters[i], given.texts[i]));
  }
  const Answer answer = operation.answer(arguments);
  if (!given.json) {
    fmt::print("{}\n", answer.text);
    return;
  }
  const nlohmann::ordered_json document = {{"op", operation.name}, {"out", answer.json}};
  fmt::print("{}\n", document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::string example(const Operation& operation) {
  std::string text = fmt::format("Examples:\n  tilejit layout {}", operation.name);
  for (const std::string_view argument : operation.example) {
    const bool plain = argument.find_first_of("(<* ") == std::string_view::npos;
    text += plain ? fmt::format(" {}", argument) : fmt::format(" '{}'", argument);
  }
  return text;
}

void add_parameter(CLI::App& command, const Parameter& parameter, Given::Text& given) {
  if (parameter.kind == Kind::flag) {
    given.option =
        command.add_flag(dashed(parameter.name), given.flag, "Answer as CuTe does, even inexactly");
    return;
  }
  given.option =
      command.add_option(upper(parameter.name), given.text, std::string(kind_text(parameter.kind)));
  given.option->required(!parameter.optional);
}

void add_operation(CLI::App& layout, const Operation& operation) {
  CLI::App* command =
      layout.add_subcommand(std::string(operation.name), std::string(operation.description));
  command->group(std::string(operation.group));
  auto given = std::make_shared<Given>();
  given->texts.resize(operation.parameters.size());
  for (std::size_t i = 0; i < operation.parameters.size(); ++i) {
    add_parameter(*command, operation.parameters[i], given->texts[i]);
  }
  command->add_flag("--json", given->json, "One JSON object on standard output");
  command->footer(example(operation));
  command->callback([&operation, &layout, given] {
    check_no_batch(layout);
    answer(operation, *given);
  });
}

void run_batch(const CLI::App& layout, const CLI::Option& option, const std::string& path) {
  if (option.count() > 0) return answer_batch(path.empty() ? "-" : path);
  if (!layout.get_subcommands().empty()) return;
  throw UsageError("layout needs an operation or --batch; tilejit layout --help lists them");
}

}  // namespace

void check_no_batch(const CLI::App& layout) {
  if (layout.get_option("--batch")->count() == 0) return;
  throw UsageError("--batch takes its operations from the file; leave out the one given");
}

void add_layout(CLI::App& app, bool with_operations) {
  CLI::App* command = app.add_subcommand("layout", "Compute with layouts, as CuTe's algebra does");
  if (!with_operations) return;
  for (const Operation& operation : operations()) add_operation(*command, operation);
  add_layout_show(*command);
  add_layout_tv(*command);
  auto path = std::make_shared<std::string>();
  CLI::Option* batch =
      command
          ->add_option("--batch", *path, "Answer one JSON object a line; FILE, or standard input")
          ->expected(0, 1)
          ->type_name("FILE");
  command->footer(
      "Examples:\n"
      "  tilejit layout composition '(6,2):(8,2)' '(4,3):(3,1)'\n"
      "  tilejit layout zipped_divide '(8,8):(8,1)' '(2,4)' --json\n"
      "  tilejit layout show '((2,2),2):((4,2),1)'\n"
      "  echo '{\"op\":\"size\",\"in\":{\"layout\":\"(4,2):(1,4)\"}}' | tilejit layout --batch");
  command->callback([command, batch, path] { run_batch(*command, *batch, *path); });
}

}  // namespace tilejit::cli
