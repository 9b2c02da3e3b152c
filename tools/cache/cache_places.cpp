#include "cache/cache_places.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

#include "cache/cache_metadata.hpp"
#include "common/command.hpp"
#include "common/files.hpp"
#include "tilejit/cache_identity.hpp"
#include "tilejit/printable.hpp"

namespace tilejit::cli {
namespace fs = std::filesystem;
namespace {

cache::Trust trust_of(const Options& options) {
  return options.cache_trust_anyone ? cache::Trust::anyone : cache::Trust::own;
}

std::optional<cache::PublicKey> signer_of(const Options& options) {
  if (options.cache_bundle_key.empty()) return std::nullopt;
  return cache::parse_public_key(
      read_file(options.cache_bundle_key, kLargestKey, cache::FileKind::regular));
}

bool starts_any(const std::vector<std::string>& prefixes, const std::string& key) {
  return prefixes.empty() || std::ranges::any_of(prefixes, [&](const std::string& prefix) {
           return key.starts_with(prefix);
         });
}

}  // namespace

Place::Place(const fs::path& path, const Options& options) : path_(fs::absolute(path).string()) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::exists(status) && !fs::is_directory(status)) {
    bundle_.emplace(path, trust_of(options), signer_of(options), is_entry_of);
  } else {
    folder_.emplace(path, trust_of(options), is_entry_of);
  }
}

std::vector<cache::EntryInfo> Place::list() const {
  return bundle_ ? bundle_->list() : folder_->list();
}

std::optional<cache::Entry> Place::read(const std::string& key) const {
  return bundle_ ? bundle_->read(key) : folder_->read(key);
}

nlohmann::ordered_json Place::metadata(const std::string& key) const {
  const auto text = bundle_ ? bundle_->metadata(key) : folder_->metadata(key);
  return parse_metadata(text.value_or(""));
}

std::vector<std::string> Place::markers(const std::string& kind) const {
  return bundle_ ? bundle_->markers(kind) : folder_->markers(kind);
}

cache::VerifyReport Place::verify() const {
  return bundle_ ? bundle_->verify() : folder_->verify();
}

fs::path writable_folder(const Options& options) {
  if (options.cache_folder) return *options.cache_folder;
  throw UsageError("the cache is kept in memory only; set TILEJIT_CACHE_DIR to a folder");
}

std::vector<Place> all_places(const Options& options,
                              const std::function<void(const std::string&)>& skipped) {
  std::vector<Place> places;
  std::vector<fs::path> paths = options.cache_path;
  if (options.cache_folder) paths.insert(paths.begin(), *options.cache_folder);
  for (const fs::path& path : paths) {
    try {
      places.emplace_back(path, options);
      (void)places.back().markers("compilers");
    } catch (const std::runtime_error& error) {
      skipped(error.what());
    }
  }
  return places;
}

std::vector<Place> all_places(const Options& options) {
  return all_places(options, [](const std::string& why) {
    std::fprintf(stderr, "tilejit: %s; going on without it\n", printable(why).c_str());
  });
}

Located find_entry(const std::vector<Place>& places, const std::string& prefix) {
  std::optional<Located> found;
  for (const Place& place : places) {
    for (cache::EntryInfo& info : place.list()) {
      if (!info.key.starts_with(prefix) || (found && found->info.key == info.key)) continue;
      if (found) {
        throw UsageError(fmt::format("several keys start with '{}', {} and {}; give more digits",
                                     prefix, found->info.key.substr(0, 16),
                                     info.key.substr(0, 16)));
      }
      found = Located{&place, std::move(info)};
    }
  }
  if (found) return *found;
  throw UsageError(
      fmt::format("no key starts with '{}'; tilejit cache ls lists them", prefix.substr(0, 64)));
}

bool Selection::takes(const std::string& key, const nlohmann::ordered_json& metadata) const {
  if (!starts_any(keys, key)) return false;
  return (kernel.empty() ||
          text_member(metadata, "kernel", "").find(kernel) != std::string::npos) &&
         (target.empty() || text_member(metadata, "target", "") == target);
}

void confirm(const std::string& question, bool yes) {
  if (yes) return;
  if (::isatty(STDIN_FILENO) == 0) {
    throw UsageError(question + " Nobody can be asked here; say so with --yes");
  }
  fmt::print(stderr, "{} [y/N] ", question);
  std::array<char, 16> answer = {};
  const bool read = std::fgets(answer.data(), answer.size(), stdin) != nullptr;
  if (!read || (answer[0] != 'y' && answer[0] != 'Y')) throw Failure("nothing was changed");
}

std::string table_text(std::vector<std::vector<std::string>> rows,
                       const std::vector<std::size_t>& right) {
  std::vector<std::size_t> widths;
  for (auto& row : rows) {
    // Cells may come from metadata, which may come from a server or from somebody's bundle.
    for (std::string& cell : row) cell = printable(cell);
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - row[i].size(), ' ');
      const bool to_the_right = std::ranges::count(right, i) > 0;
      line += (i == 0 ? "" : "  ") + (to_the_right ? padding + row[i] : row[i] + padding);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}

std::string count_text(std::uint64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string entries_text(std::uint64_t count) {
  return count_text(count, "entry", "entries");
}

std::string time_text(std::chrono::system_clock::time_point time) {
  if (time == std::chrono::system_clock::time_point{}) return "-";
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm utc = {};
  gmtime_r(&seconds, &utc);
  std::array<char, 32> text = {};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M", &utc)};
}

}  // namespace tilejit::cli
