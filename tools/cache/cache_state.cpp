#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cache/cache_commands.hpp"
#include "cache/cache_metadata.hpp"
#include "cache/cache_places.hpp"
#include "common/command.hpp"
#include "common/files.hpp"
#include "common/options.hpp"
#include "kernels/report.hpp"
#include "tilejit/cache/store.hpp"

namespace tilejit::cli {
namespace {

using nlohmann::ordered_json;

void print_json(const ordered_json& document) {
  fmt::print("{}\n", document.dump(2, ' ', false, ordered_json::error_handler_t::replace));
}

std::string bound_text(const Options& options) {
  std::string text = options.cache_max_bytes == 0
                         ? "no bound in bytes"
                         : "at most " + bytes_text(static_cast<double>(options.cache_max_bytes));
  if (options.cache_max_age.count() > 0) {
    text += fmt::format(", {:.1f} days after the last use",
                        static_cast<double>(options.cache_max_age.count()) / 86400);
  }
  return text;
}

// The remote's URL, without the user and password of "https://user:password@host/path".
std::string without_password(const Options& options) {
  std::string url = options.cache_remote.url;
  const std::size_t host = url.find("://");
  const std::size_t at = host == std::string::npos ? host : url.find('@', host);
  const std::size_t slash = host == std::string::npos ? host : url.find('/', host + 3);
  if (at != std::string::npos && at < slash) url.erase(host + 3, at - host - 2);
  return url;
}

void path(bool as_json) {
  const Options options = Options::from_env();
  if (as_json) {
    auto read_only = ordered_json::array();
    for (const auto& item : options.cache_path) read_only.push_back(item.string());
    print_json(
        {{"folder",
          options.cache_folder ? ordered_json(options.cache_folder->string()) : ordered_json()},
         {"read_only", std::move(read_only)},
         {"remote", options.cache_remote.url.empty() ? ordered_json()
                                                     : ordered_json(without_password(options))},
         {"max_bytes", options.cache_max_bytes},
         {"max_age_seconds", options.cache_max_age.count()}});
    return;
  }
  fmt::print("{}\n", options.cache_folder ? options.cache_folder->string() : "(memory only)");
  for (const auto& item : options.cache_path) fmt::print("{} (read only)\n", item.string());
  if (!options.cache_remote.url.empty()) fmt::print("{} (remote)\n", without_password(options));
}

struct Totals {
  std::uint64_t entries = 0, bytes = 0;
  std::chrono::system_clock::time_point oldest = {}, newest = {};
  std::map<std::string, std::uint64_t> targets;  // entries of each target
};

Totals totals_of(const Place& place) {
  Totals totals;
  for (const cache::EntryInfo& info : place.list()) {
    ++totals.entries;
    totals.bytes += info.bytes;
    totals.oldest = totals.entries == 1 ? info.used : std::min(totals.oldest, info.used);
    totals.newest = std::max(totals.newest, info.used);
    ++totals.targets[text_member(place.metadata(info.key), "target")];
  }
  return totals;
}

void stat(bool as_json) {
  const Options options = Options::from_env();
  auto document = ordered_json::array();
  std::vector<std::vector<std::string>> rows = {
      {"PLACE", "ENTRIES", "SIZE", "LEAST RECENTLY USED", "LAST USED (UTC)", "TARGETS"}};
  for (const Place& place : all_places(options)) {
    const Totals totals = totals_of(place);
    std::string targets;
    for (const auto& [name, entries] : totals.targets) {
      targets += fmt::format("{}{} {}", targets.empty() ? "" : ", ", entries, name);
    }
    rows.push_back({place.path(), std::to_string(totals.entries),
                    bytes_text(static_cast<double>(totals.bytes)), time_text(totals.oldest),
                    time_text(totals.newest), targets});
    document.push_back({{"place", place.path()},
                        {"bundle", place.is_bundle()},
                        {"entries", totals.entries},
                        {"bytes", totals.bytes},
                        {"oldest", time_text(totals.oldest)},
                        {"newest", time_text(totals.newest)},
                        {"targets", totals.targets}});
  }
  if (as_json) return print_json({{"places", std::move(document)}});
  fmt::print("{}{}\n", table_text(rows, {1, 2}), bound_text(options));
}

struct Finding {
  std::string what, verdict;
  bool good = true;
};

// Writes, reads and locks as a request would. The probe has a key of its own.
Finding probe_folder(const Options& options) {
  if (!options.cache_folder) return {"folder", "none: kernels are kept in memory only", false};
  std::string trouble;
  const std::string key = cache::sha256_hex("tilejit cache doctor");
  const cache::Options settings{
      .folder = *options.cache_folder,
      .memory_bytes = 0,
      .trust = options.cache_trust_anyone ? cache::Trust::anyone : cache::Trust::own,
      .warn = [&](const std::string& text) { trouble = text; }};
  cache::Store store(settings);
  (void)store.find_or_make(key, [] { return cache::Entry{"probe", "{}"}; });
  const bool read = store.find(key).has_value();
  const bool locked = store.counters().lock_failures == 0;
  std::error_code ignored;
  std::filesystem::remove(store.path_of(key), ignored);
  if (!trouble.empty()) return {"folder", trouble, false};
  if (!read) return {"folder", "what was written could not be read back", false};
  const std::string where = options.cache_folder->string() + ", writable, " + bound_text(options);
  if (locked) return {"folder", where};
  return {"folder", where + ", but its file system has no locks: processes may compile twice",
          false};
}

// Asks the remote for a key that no remote has. The store's warning reports any trouble.
Finding probe_remote(const Options& options) {
  std::string trouble;
  cache::Options settings{.remote = options.cache_remote,
                          .warn = [&](const std::string& text) { trouble = text; }};
  settings.remote.retry_after = {};
  try {
    cache::Store store(std::move(settings));
    (void)store.find(cache::sha256_hex("tilejit cache doctor"));
  } catch (const std::invalid_argument& error) {
    trouble = error.what();
  }
  if (!trouble.empty()) return {"remote", trouble, false};
  return {"remote", without_password(options) + ", answers"};
}

std::vector<Finding> diagnose(const Options& options) {
  std::vector<Finding> findings = {probe_folder(options)};
  std::error_code error;
  if (options.cache_folder) {
    const auto space = std::filesystem::space(*options.cache_folder, error);
    if (!error) {
      const bool enough = options.cache_max_bytes == 0 || space.available > options.cache_max_bytes;
      findings.push_back({"disk",
                          bytes_text(static_cast<double>(space.available)) + " free" +
                              (enough ? "" : ", less than the cache may take"),
                          enough});
    }
  }
  for (const auto& path : options.cache_path) {
    try {
      const Place place(path, options);
      const std::size_t entries = place.list().size();
      const bool there = std::filesystem::exists(path);
      findings.push_back(
          {"read only",
           path.string() + (there ? ", " + entries_text(entries) : ", cannot be found"), there});
    } catch (const std::runtime_error& trouble) {
      findings.push_back({"read only", trouble.what(), false});
    }
  }
  if (!options.cache_remote.url.empty()) findings.push_back(probe_remote(options));
  return findings;
}

void doctor(bool as_json) {
  const std::vector<Finding> findings = diagnose(Options::from_env());
  auto document = ordered_json::array();
  std::vector<std::vector<std::string>> rows;
  for (const Finding& finding : findings) {
    rows.push_back({finding.what, finding.good ? "ok" : "PROBLEM", finding.verdict});
    document.push_back(
        {{"what", finding.what}, {"good", finding.good}, {"verdict", finding.verdict}});
  }
  if (as_json) {
    print_json({{"findings", std::move(document)}});
  } else {
    fmt::print("{}", table_text(rows));
  }
  const auto problems = std::ranges::count(findings, false, &Finding::good);
  if (problems > 0)
    throw Failure(fmt::format("{} of {} checks found a problem", problems, findings.size()));
}

void add_simple(CLI::App& app, const char* name, const char* help, void (*run)(bool)) {
  CLI::App* command = app.add_subcommand(name, help);
  auto as_json = std::make_shared<bool>(false);
  add_json(*command, *as_json, fmt::format("cache-{}", name));
  command->footer(
      fmt::format("Examples:\n  tilejit cache {}\n  tilejit cache {} --json", name, name));
  command->callback([as_json, run] { run(*as_json); });
}

}  // namespace

void add_cache_state(CLI::App& app) {
  add_simple(app, "path", "Print where the cache is", path);
  add_simple(app, "stat", "Count entries and bytes", stat);
  add_simple(app, "doctor",
             "Try the cache, and say what is wrong with it; exit code 1 if something is", doctor);
}

}  // namespace tilejit::cli
