#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "common/command.hpp"
#include "tilejit/operation.hpp"

namespace tilejit::cli {

void add_schema(CLI::App& app) {
  CLI::App* command = app.add_subcommand("schema", "Print the JSON Schema of spec files");
  command->footer("Examples:\n  tilejit schema > spec.schema.json");
  command->callback([] { fmt::print("{}", spec_schema()); });
}

}  // namespace tilejit::cli
