#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cache/cache_commands.hpp"
#include "cache/cache_places.hpp"
#include "common/command.hpp"
#include "common/options.hpp"
#include "kernels/report.hpp"
#include "tilejit/cache/units.hpp"
#include "tilejit/cache_identity.hpp"
#include "tilejit/printable.hpp"

namespace tilejit::cli {
namespace {

using nlohmann::ordered_json;

cache::Folder open_folder(const Options& options) {
  return cache::Folder(writable_folder(options),
                       options.cache_trust_anyone ? cache::Trust::anyone : cache::Trust::own,
                       is_entry_of);
}

void print_report(const cache::PruneReport& report, bool as_json) {
  if (as_json) {
    const ordered_json document = {{"removed", report.removed},
                                   {"removed_bytes", report.removed_bytes},
                                   {"leftovers", report.leftovers},
                                   {"kept", report.kept},
                                   {"kept_bytes", report.kept_bytes}};
    fmt::print("{}\n", json_text(document));
    return;
  }
  fmt::print("removed {} and {}, {}; kept {}, {}\n", entries_text(report.removed),
             count_text(report.leftovers, "leftover", "leftovers"),
             bytes_text(static_cast<double>(report.removed_bytes)), entries_text(report.kept),
             bytes_text(static_cast<double>(report.kept_bytes)));
}

struct VerifyOptions {
  std::string path;
  bool json = false;
};

void print_verified(const Place& place, const cache::VerifyReport& report) {
  fmt::print("{}: {} whole, {} damaged\n", printable(place.path()), entries_text(report.good),
             report.damaged.size());
  for (const std::string& key : report.damaged) {
    const bool misplaced = std::ranges::count(report.misplaced, key) > 0;
    fmt::print("  {}: {}\n", misplaced ? "another key's entry" : "damaged", printable(key));
  }
}

void verify(const VerifyOptions& options) {
  const Options settings = Options::from_env();
  std::vector<Place> places;
  if (options.path.empty()) {
    places = all_places(settings);
  } else {
    if (!std::filesystem::exists(options.path)) {
      throw UsageError(options.path + " does not exist; check the path");
    }
    places.emplace_back(options.path, settings);
  }
  auto document = ordered_json::array();
  std::size_t damaged = 0;
  for (const Place& place : places) {
    const cache::VerifyReport report = place.verify();
    damaged += report.damaged.size();
    document.push_back({{"place", place.path()},
                        {"good", report.good},
                        {"damaged", report.damaged},
                        {"misplaced", report.misplaced}});
    if (!options.json) print_verified(place, report);
  }
  if (options.json) fmt::print("{}\n", json_text({{"places", std::move(document)}}));
  if (damaged > 0) {
    throw Failure(
        fmt::format("{} are damaged; in a folder the next request makes each again, a "
                    "bundle has to be exported or fetched again",
                    damaged));
  }
}

struct PruneOptions {
  std::string size, age;
  bool yes = false, json = false;
};

cache::Bounds bounds_of(const PruneOptions& options, const Options& settings) {
  cache::Bounds bounds{.bytes = settings.cache_max_bytes, .age = settings.cache_max_age};
  if (!options.size.empty()) {
    const auto bytes = cache::parse_bytes(options.size);
    if (!bytes) {
      throw UsageError(fmt::format("--max-size is '{}'; it takes bytes, such as 500M or 4G",
                                   options.size.substr(0, 40)));
    }
    bounds.bytes = *bytes;
  }
  if (!options.age.empty()) {
    const auto age = cache::parse_age(options.age);
    if (!age) {
      throw UsageError(fmt::format("--max-age is '{}'; it takes a time, such as 12h or 30d",
                                   options.age.substr(0, 40)));
    }
    bounds.age = *age;
  }
  return bounds;
}

void prune(const PruneOptions& options) {
  const Options settings = Options::from_env();
  const cache::Bounds bounds = bounds_of(options, settings);
  std::string rule = "leftovers";
  if (bounds.bytes > 0) {
    rule += fmt::format(", what is beyond {}", bytes_text(static_cast<double>(bounds.bytes)));
  }
  if (bounds.age.count() > 0) {
    rule += fmt::format(", what was not used for {:.1f} days",
                        static_cast<double>(bounds.age.count()) / 86400);
  }
  confirm(fmt::format("Remove from {}: {}?", writable_folder(settings).string(), rule),
          options.yes);
  print_report(open_folder(settings).prune(bounds), options.json);
}

struct ClearOptions {
  bool yes = false, json = false;
};

void clear(const ClearOptions& options) {
  const Options settings = Options::from_env();
  const cache::Folder folder = open_folder(settings);
  confirm(fmt::format("Remove {}, all there are, from {}?", entries_text(folder.list().size()),
                      writable_folder(settings).string()),
          options.yes);
  print_report(folder.clear(), options.json);
}

}  // namespace

void add_cache_care(CLI::App& app) {
  auto checked = std::make_shared<VerifyOptions>();
  CLI::App* command = app.add_subcommand("verify", "Read every entry and check it");
  command->add_option("PATH", checked->path, "A folder or bundle; default: all that are configured")
      ->type_name("FILE");
  add_json(*command, checked->json, "cache-verify");
  command->footer(
      "Exit code 1 if something is damaged. Examples:\n  tilejit cache verify\n"
      "  tilejit cache verify kernels.tjb");
  command->callback([checked] { verify(*checked); });

  auto bounds = std::make_shared<PruneOptions>();
  command = app.add_subcommand("prune", "Remove what is too old or too much, and leftovers");
  command->add_option("--max-size", bounds->size, "Bytes to keep; default: TILEJIT_CACHE_MAX_SIZE")
      ->type_name("500M");
  command
      ->add_option("--max-age", bounds->age, "Since the last use; default: TILEJIT_CACHE_MAX_AGE")
      ->type_name("30d");
  command->add_flag("--yes", bounds->yes, "Do not ask");
  add_json(*command, bounds->json, "cache-prune");
  command->footer("Examples:\n  tilejit cache prune --max-size 1G --yes");
  command->callback([bounds] { prune(*bounds); });

  auto cleared = std::make_shared<ClearOptions>();
  command = app.add_subcommand("clear", "Remove every entry of the folder");
  command->add_flag("--yes", cleared->yes, "Do not ask");
  add_json(*command, cleared->json, "cache-prune");
  command->footer("Examples:\n  tilejit cache clear --yes");
  command->callback([cleared] { clear(*cleared); });
}

}  // namespace tilejit::cli
