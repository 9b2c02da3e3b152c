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

/// The most that a folder may hold. 0: no bound.
struct Bounds {
  std::uint64_t bytes = 0;        ///< of all files together
  std::chrono::seconds age = {};  ///< since an entry was last used; accurate to the hour
};

/// One entry of a folder or bundle.
struct EntryInfo {
  std::string key;
  std::uint64_t bytes = 0;  ///< size of the entry and of the files kept beside it
  std::chrono::system_clock::time_point used = {};  ///< last use; unset for entries of a bundle
};

struct PruneReport {
  std::uint64_t removed = 0, removed_bytes = 0;  ///< entries, and the bytes of all removed files
  std::uint64_t leftovers = 0;  ///< files of killed writers, and files set aside as damaged
  std::uint64_t kept = 0, kept_bytes = 0;
};

struct VerifyReport {
  std::uint64_t good = 0;
  std::vector<std::string> damaged;  ///< keys; or the bundle's path for damage outside its entries
  std::vector<std::string> misplaced = {};  ///< intact ones, but of another key
};

/// Inspects and tidies a cache folder. Any number of Stores may use the folder at the same time.
/// Thread-safe. Each function throws std::runtime_error if the folder is refused (Trust) or cannot
/// be read or written. A folder that does not exist counts as empty.
class Folder {
 public:
  /// Entries that do not belong to their key by `identity` count as damaged.
  explicit Folder(const std::filesystem::path& folder, Trust trust = Trust::own,
                  Identity identity = {});
  ~Folder();
  Folder(Folder&&) noexcept;
  Folder& operator=(Folder&&) noexcept;

  [[nodiscard]] std::vector<EntryInfo> list() const;  ///< by key
  /// The verified entry; nothing if there is none, or if it does not verify.
  [[nodiscard]] std::optional<Entry> read(const std::string& key) const;
  /// Only the metadata, not verified. Meant for listing many entries.
  [[nodiscard]] std::optional<std::string> metadata(const std::string& key) const;
  [[nodiscard]] std::vector<std::string> markers(const std::string& kind) const;

  /// Reads every entry. Damaged ones stay in place: the next request for one sets it aside.
  [[nodiscard]] VerifyReport verify() const;
  /// Removes the least recently used entries until the bounds hold. Entries used meanwhile stay.
  /// Also removes leftovers: temporaries older than an hour; and, if older than a day, damaged
  /// files and folders in the place of files.
  PruneReport prune(const Bounds& bounds) const;
  /// Removes every entry, marker and leftover, and nothing that does not belong to the cache.
  /// Temporaries younger than an hour stay: their writers may still be alive.
  PruneReport clear() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilejit::cache
