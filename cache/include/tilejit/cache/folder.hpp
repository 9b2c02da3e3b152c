#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tilejit/cache/entry.hpp"

namespace tilejit::cache {

/// How much a folder may hold. 0: no bound.
struct Bounds {
  std::uint64_t bytes = 0;        ///< of all files together
  std::chrono::seconds age = {};  ///< since an entry was last used, known to the hour
};

/// One entry of a folder or bundle.
struct EntryInfo {
  std::string key;
  std::uint64_t bytes = 0;  ///< of its files: the entry and what is kept beside it
  std::chrono::system_clock::time_point used = {};  ///< last; a bundle does not know
};

struct PruneReport {
  std::uint64_t removed = 0, removed_bytes = 0;  ///< entries, and the bytes of all removed files
  std::uint64_t leftovers = 0;  ///< files of killed writers, and those set aside as damaged
  std::uint64_t kept = 0, kept_bytes = 0;
};

struct VerifyReport {
  std::uint64_t good = 0;
  std::vector<std::string> damaged;  ///< keys; what a bundle holds beside its entries: its path
  std::vector<std::string> misplaced = {};  ///< those of `damaged` that are whole, of another key
};

/// A cache folder, to be looked at and tidied. Works beside any number of Stores that use it.
/// Thread-safe. Each function throws std::runtime_error if the folder is refused (Trust) or cannot
/// be read or written; a folder that does not exist is empty.
class Folder {
 public:
  /// Entries that are not of their key by `identity` are damaged ones.
  explicit Folder(const std::filesystem::path& folder, Trust trust = Trust::own,
                  Identity identity = {});
  ~Folder();
  Folder(Folder&&) noexcept;
  Folder& operator=(Folder&&) noexcept;

  [[nodiscard]] std::vector<EntryInfo> list() const;  ///< by key
  /// The entry, verified; nothing if there is none, or none that verifies.
  [[nodiscard]] std::optional<Entry> read(const std::string& key) const;
  /// Only its metadata, not verified: to list many.
  [[nodiscard]] std::optional<std::string> metadata(const std::string& key) const;
  [[nodiscard]] std::vector<std::string> markers(const std::string& kind) const;

  /// Reads every entry. Damaged ones stay where they are: the next that wants one sets it aside.
  [[nodiscard]] VerifyReport verify() const;
  /// Removes the least recently used until the bounds hold, and leftovers: temporaries older than
  /// an hour, damaged files and folders in the place of files older than a day. What is used
  /// meanwhile stays.
  PruneReport prune(const Bounds& bounds) const;
  /// Removes every entry, marker and leftover, and nothing that is not the cache's. Temporaries
  /// younger than an hour stay: their writers may live.
  PruneReport clear() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilejit::cache
