#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cache/cache_commands.hpp"
#include "cache/cache_metadata.hpp"
#include "cache/cache_places.hpp"
#include "common/command.hpp"
#include "common/files.hpp"
#include "common/options.hpp"
#include "kernels/report.hpp"
#include "tilejit/printable.hpp"

namespace tilejit::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kLongestValue = 120;          // bytes in a line of show; --json has all
constexpr std::uintmax_t kLargestText = 64u << 20;  // bytes of a file beside an entry

struct Row {
  std::string place;
  cache::EntryInfo info;
  ordered_json metadata;
};

struct ListOptions {
  Selection selection;
  std::string sort = "used";
  bool all = false, json = false;
};

void sort_rows(std::vector<Row>& rows, const std::string& order) {
  const auto name = [](const Row& row) { return text_member(row.metadata, "kernel", ""); };
  std::ranges::stable_sort(rows, [&](const Row& a, const Row& b) {
    if (order == "size") return a.info.bytes > b.info.bytes;
    if (order == "name") return name(a) < name(b);
    return a.info.used > b.info.used;
  });
}

std::string number_text(const ordered_json& metadata, const char* name) {
  const auto member = metadata.find(name);
  return member != metadata.end() && member->is_number_integer()
             ? std::to_string(member->get<std::int64_t>())
             : "-";
}

ordered_json row_json(const Row& row) {
  return {{"key", row.info.key},
          {"place", row.place},
          {"bytes", row.info.bytes},
          {"used", time_text(row.info.used)},
          {"kernel", text_member(row.metadata, "kernel", "")},
          {"target", text_member(row.metadata, "target", "")},
          {"created", text_member(row.metadata, "created", "")},
          {"registers", row.metadata.value("registers", ordered_json())},
          {"spill_bytes", row.metadata.value("spill_bytes", ordered_json())},
          {"shared_bytes", row.metadata.value("shared_bytes", ordered_json())}};
}

void print_rows(const std::vector<Row>& rows, bool with_place) {
  std::vector<std::vector<std::string>> cells = {
      {"KEY", "KERNEL", "TARGET", "SIZE", "REGS", "SPILLS", "LAST USED (UTC)"}};
  if (with_place) cells[0].emplace_back("PLACE");
  std::uint64_t bytes = 0;
  for (const Row& row : rows) {
    bytes += row.info.bytes;
    cells.push_back({row.info.key.substr(0, 12), text_member(row.metadata, "kernel"),
                     text_member(row.metadata, "target"),
                     bytes_text(static_cast<double>(row.info.bytes)),
                     number_text(row.metadata, "registers"),
                     number_text(row.metadata, "spill_bytes"), time_text(row.info.used)});
    if (with_place) cells.back().push_back(row.place);
  }
  if (!rows.empty()) fmt::print("{}", table_text(cells, {3, 4, 5}));
  fmt::print("{}, {}\n", entries_text(rows.size()), bytes_text(static_cast<double>(bytes)));
}

void list(const ListOptions& options) {
  const Options settings = Options::from_env();
  std::vector<Place> places;
  if (options.all) {
    places = all_places(settings);
  } else {
    places.emplace_back(writable_folder(settings), settings);
  }
  std::vector<Row> rows;
  for (const Place& place : places) {
    for (cache::EntryInfo& info : place.list()) {
      ordered_json metadata = place.metadata(info.key);
      if (!options.selection.takes(info.key, metadata)) continue;
      rows.push_back({place.path(), std::move(info), std::move(metadata)});
    }
  }
  sort_rows(rows, options.sort);
  if (!options.json) return print_rows(rows, options.all);
  ordered_json document = {{"entries", ordered_json::array()}};
  for (const Row& row : rows) document["entries"].push_back(row_json(row));
  fmt::print("{}\n", document.dump(2, ' ', false, ordered_json::error_handler_t::replace));
}

struct ShowOptions {
  std::string key, cubin, kept;
  bool json = false;
};

// The text that TILEJIT_CACHE_KEEP left beside the entry.
std::string kept_text(const Located& found, const std::string& what) {
  const std::string suffix = what == "source" ? "cu" : what;
  const auto path = std::filesystem::path(found.place->path()) / "v1" /
                    found.info.key.substr(0, 2) / (found.info.key + "." + suffix);
  if (!found.place->is_bundle() && std::filesystem::exists(path)) {
    return read_file(path, kLargestText);
  }
  throw Failure(
      fmt::format("no {} was kept beside {}; TILEJIT_CACHE_KEEP={} keeps that of what is "
                  "compiled from then on",
                  what, found.info.key.substr(0, 12), what));
}

void print_entry(const Located& found, const ordered_json& metadata, bool as_json) {
  ordered_json entry = {{"key", found.info.key},
                        {"place", found.place->path()},
                        {"bytes", found.info.bytes},
                        {"used", time_text(found.info.used)},
                        {"metadata", metadata}};
  if (as_json) {
    fmt::print("{}\n", entry.dump(2, ' ', false, ordered_json::error_handler_t::replace));
    return;
  }
  std::vector<std::vector<std::string>> rows = {
      {"key", found.info.key},
      {"place", found.place->path()},
      {"size", bytes_text(static_cast<double>(found.info.bytes))},
      {"last used", time_text(found.info.used)}};
  for (const auto& [name, value] : metadata.items()) {
    std::string text = value.is_string()
                           ? value.get<std::string>()
                           : value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    if (text.size() > kLongestValue) text = text.substr(0, kLongestValue - 3) + "...";
    rows.push_back({name, std::move(text)});
  }
  fmt::print("{}", table_text(rows));
}

void show(const ShowOptions& options) {
  const std::vector<Place> places = all_places(Options::from_env());
  const Located found = find_entry(places, options.key);
  if (!options.kept.empty()) {
    fmt::print("{}", printable(kept_text(found, options.kept), Lines::several));
    return;
  }
  const auto entry = found.place->read(found.info.key);
  if (!entry) {
    throw Failure(
        fmt::format("the entry {} in {} is damaged, or another key's; the next request "
                    "makes it again",
                    found.info.key, found.place->path()));
  }
  if (!options.cubin.empty()) write_file(options.cubin, entry->payload);
  if (options.cubin == "-") return;
  print_entry(found, found.place->metadata(found.info.key), options.json);
}

}  // namespace

void add_cache_entries(CLI::App& app) {
  CLI::App* command = app.add_subcommand("ls", "List the entries, the last used first");
  auto options = std::make_shared<ListOptions>();
  command->add_option("--kernel", options->selection.kernel, "Only kernels with this in their name")
      ->type_name("NAME");
  command->add_option("--target", options->selection.target, "Only of this target")
      ->type_name("TARGET");
  command->add_option("--sort", options->sort, "What comes first: last used, largest, by name")
      ->type_name("used|size|name")
      ->check(one_of({"used", "size", "name"}))
      ->capture_default_str();
  command->add_flag("--all", options->all, "What TILEJIT_CACHE_PATH names too");
  add_json(*command, options->json, "cache-ls");
  command->footer("Examples:\n  tilejit cache ls --sort size\n  tilejit cache ls --all --json");
  command->callback([options] { list(*options); });

  CLI::App* show_command = app.add_subcommand("show", "Show what is known of one entry");
  auto what = std::make_shared<ShowOptions>();
  show_command->add_option("KEY", what->key, "Its key, or the first digits of it")
      ->type_name("KEY")
      ->required();
  show_command
      ->add_option("-o,--output", what->cubin, "Write the cubin to a file, - for standard output")
      ->type_name("FILE");
  show_command->add_option("--kept", what->kept, "Print what TILEJIT_CACHE_KEEP kept beside it")
      ->type_name("source|ptx|log|sass")
      ->check(one_of({"source", "ptx", "log", "sass"}));
  add_json(*show_command, what->json, "cache-show");
  show_command->footer(
      "Examples:\n  tilejit cache show 3f2a\n  tilejit cache show 3f2a -o kernel.cubin");
  show_command->callback([what] { show(*what); });
}

}  // namespace tilejit::cli
