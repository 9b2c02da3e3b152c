#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "about/output_schema.hpp"
#include "common/command.hpp"
#include "common/options.hpp"
#include "tilejit/operation.hpp"

namespace tilejit::cli {
namespace {

using nlohmann::ordered_json;

constexpr const char* kReference = "#/$defs/";

const std::vector<std::string>& documents() {
  static const std::vector<std::string> names = {
      "spec",        "run",          "compile",       "explain",    "warm",
      "coverage",    "doctor",       "cache-path",    "cache-stat", "cache-doctor",
      "cache-ls",    "cache-show",   "cache-explain", "cache-why",  "cache-verify",
      "cache-prune", "cache-export", "cache-import"};
  return names;
}

// Adds to `names` the definitions that `schema` refers to, directly or through others.
void add_references(const ordered_json& schema, const ordered_json& all,
                    std::set<std::string>& names) {
  if (schema.is_object() && schema.contains("$ref")) {
    const std::string name =
        schema["$ref"].get<std::string>().substr(std::string(kReference).size());
    if (names.insert(name).second) add_references(all.at(name), all, names);
  }
  if (!schema.is_structured()) return;
  for (const ordered_json& member : schema) add_references(member, all, names);
}

std::string schema_of(const std::string& document) {
  if (document == "spec") return std::string(spec_schema());
  const ordered_json all = ordered_json::parse(output_schema());
  ordered_json schema = {{"$schema", all["$schema"]}, {"$ref", kReference + document}};
  std::set<std::string> names;
  add_references(schema, all["$defs"], names);
  for (const std::string& name : names) schema["$defs"][name] = all["$defs"][name];
  return schema.dump(2) + '\n';
}

}  // namespace

void add_schema(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "schema", "Print the JSON Schema of spec files, or of what a command prints with --json");
  auto document = std::make_shared<std::string>("spec");
  command->add_option("DOCUMENT", *document, fmt::format("One of {}", fmt::join(documents(), ", ")))
      ->type_name(fmt::format("{}", fmt::join(documents(), "|")))
      ->check(one_of(documents()))
      ->capture_default_str();
  command->footer("Examples:\n  tilejit schema > spec.schema.json\n  tilejit schema run");
  command->callback([document] { fmt::print("{}", schema_of(*document)); });
}

}  // namespace tilejit::cli
