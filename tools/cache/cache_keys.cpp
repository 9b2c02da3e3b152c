#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cache/cache_commands.hpp"
#include "cache/cache_places.hpp"
#include "common/command.hpp"
#include "common/options.hpp"
#include "common/spec_file.hpp"
#include "tilejit/cache/store.hpp"
#include "tilejit/compiler.hpp"
#include "tilejit/why.hpp"

namespace tilejit::cli {
namespace {

using nlohmann::ordered_json;

struct KeyOptions {
  std::string spec, other, kernel, target;
  bool json = false;
  bool allow_source = false;
};

KeyExplanation explain_spec(const Compiler& compiler, const std::string& spec,
                            const KeyOptions& options) {
  const Operation op =
      only_kernel(select_kernels(load_specs(spec, options.allow_source), options.kernel));
  const Target target = options.target.empty() ? default_target() : parse_target(options.target);
  return compiler.explain(op, target);
}

void explain(const KeyOptions& options) {
  const Compiler compiler;
  const KeyExplanation found = explain_spec(compiler, options.spec, options);
  const auto answer = compiler.cache().find(found.key);
  const std::string tier = answer ? std::string(cache::to_string(answer->tier)) : "";
  if (options.json) {
    const ordered_json document = {{"key", found.key},
                                   {"tier", answer ? ordered_json(tier) : ordered_json()},
                                   {"fields", ordered_json::parse(found.fields)}};
    fmt::print("{}\n", document.dump(2, ' ', false, ordered_json::error_handler_t::replace));
    return;
  }
  std::vector<std::vector<std::string>> rows = {
      {"key", found.key}, {"cached", answer ? tier : "no"}, {}};
  for (const auto& [name, value] : key_fields(found.fields)) rows.push_back({name, value});
  fmt::print("{}", table_text(rows));
}

NearestEntry nearest_or_fail(const Compiler& compiler, const KeyExplanation& wanted) {
  if (auto best = nearest_entry(compiler, wanted)) return *std::move(best);
  throw Failure("the cache is empty: there is no entry to compare with");
}

std::string shortened(const std::string& text) {
  return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

void print_differences(const KeyExplanation& wanted, const NearestEntry& other, bool as_json) {
  if (as_json) {
    ordered_json document = {{"key", wanted.key},
                             {"other", {{"key", other.key}, {"name", other.name}}},
                             {"differences", ordered_json::array()}};
    for (const KeyDifference& difference : other.differences) {
      document["differences"].push_back({{"field", difference.field},
                                         {"wanted", difference.wanted},
                                         {"other", difference.other}});
    }
    fmt::print("{}\n", document.dump(2, ' ', false, ordered_json::error_handler_t::replace));
    return;
  }
  fmt::print("wanted {}\nother  {}, {}\n", wanted.key.substr(0, 12), other.key.substr(0, 12),
             other.name);
  if (other.differences.empty()) {
    fmt::print("no field differs: it is the same key\n");
    return;
  }
  std::vector<std::vector<std::string>> rows = {{"FIELD", "WANTED", "OTHER"}};
  for (const KeyDifference& difference : other.differences) {
    rows.push_back({difference.field, shortened(difference.wanted), shortened(difference.other)});
  }
  fmt::print("{}", table_text(rows));
}

void why(const KeyOptions& options) {
  const Compiler compiler;
  const KeyExplanation wanted = explain_spec(compiler, options.spec, options);
  if (options.other.empty()) {
    return print_differences(wanted, nearest_or_fail(compiler, wanted), options.json);
  }
  const KeyExplanation other = explain_spec(compiler, options.other, options);
  const NearestEntry named{other.key, options.other, key_differences(wanted.fields, other.fields)};
  print_differences(wanted, named, options.json);
}

CLI::App* add_key_command(CLI::App& app, const char* name, const char* help,
                          const std::shared_ptr<KeyOptions>& options) {
  CLI::App* command = app.add_subcommand(name, help);
  add_spec(*command, options->spec);
  add_kernel(*command, options->kernel);
  add_target(*command, options->target);
  add_allow_source(*command, options->allow_source);
  add_json(*command, options->json, fmt::format("cache-{}", name));
  return command;
}

}  // namespace

void add_cache_keys(CLI::App& app) {
  auto options = std::make_shared<KeyOptions>();
  CLI::App* command =
      add_key_command(app, "explain", "Print every field of a kernel's key", options);
  command->footer("Examples:\n  tilejit cache explain examples/specs/vector_add.json");
  command->callback([options] { explain(*options); });

  auto two = std::make_shared<KeyOptions>();
  command =
      add_key_command(app, "why", "Say which fields of the key differ from the nearest entry", two);
  command->add_option("OTHER", two->other, "A second spec file to compare with instead")
      ->type_name("FILE");
  command->footer(
      "Examples:\n"
      "  tilejit cache why examples/specs/vector_add.json --target sm_80\n"
      "  tilejit cache why one.json other.json");
  command->callback([two] { why(*two); });
}

}  // namespace tilejit::cli
