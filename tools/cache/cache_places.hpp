#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tilejit/cache/bundle.hpp"
#include "tilejit/cache/folder.hpp"
#include "tilejit/options.hpp"

namespace tilejit::cli {

/// A folder or bundle of the cache.
class Place {
 public:
  /// Throws Failure if the folder or bundle cannot be used.
  Place(const std::filesystem::path& path, const Options& options);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] bool is_bundle() const noexcept { return bundle_.has_value(); }
  [[nodiscard]] std::vector<cache::EntryInfo> list() const;
  [[nodiscard]] std::optional<cache::Entry> read(const std::string& key) const;
  /// The entry's metadata; an empty object if there is none, or if it is not JSON.
  [[nodiscard]] nlohmann::ordered_json metadata(const std::string& key) const;
  [[nodiscard]] std::vector<std::string> markers(const std::string& kind) const;
  [[nodiscard]] cache::VerifyReport verify() const;

 private:
  std::string path_;
  std::optional<cache::Folder> folder_;
  std::optional<cache::Bundle> bundle_;
};

/// The folder that the cache writes to. Throws UsageError if the cache is kept only in memory.
[[nodiscard]] std::filesystem::path writable_folder(const Options& options);

/// The writable folder, then the read-only places, if they exist and can be used. `skipped` is
/// called with the reason for each unusable place.
[[nodiscard]] std::vector<Place> all_places(const Options& options,
                                            const std::function<void(const std::string&)>& skipped);
/// The same; standard error gets the reasons.
[[nodiscard]] std::vector<Place> all_places(const Options& options);

/// An entry, and a place that has it.
struct Located {
  const Place* place = nullptr;
  cache::EntryInfo info;
};
/// The only entry whose key starts with `prefix`. Throws UsageError if there is no such entry, or
/// several.
[[nodiscard]] Located find_entry(const std::vector<Place>& places, const std::string& prefix);

/// The entries to list or export.
struct Selection {
  std::vector<std::string> keys;  ///< beginnings of keys; empty: all
  std::string kernel, target;     ///< part of the kernel's name; a target. Empty: all
  [[nodiscard]] bool takes(const std::string& key, const nlohmann::ordered_json& metadata) const;
};

/// Asks on the terminal, unless `yes`. Throws UsageError if nobody can be asked, and Failure if the
/// answer is no.
void confirm(const std::string& question, bool yes);

/// Rows of texts as aligned columns, made printable. The columns listed in `right` are flush right.
[[nodiscard]] std::string table_text(std::vector<std::vector<std::string>> rows,
                                     const std::vector<std::size_t>& right = {});

/// "1 entry", "2 entries".
[[nodiscard]] std::string count_text(std::uint64_t count, const char* one, const char* many);
[[nodiscard]] std::string entries_text(std::uint64_t count);

/// "2026-11-21 21:15" in UTC; "-" for the epoch.
[[nodiscard]] std::string time_text(std::chrono::system_clock::time_point time);

}  // namespace tilejit::cli
