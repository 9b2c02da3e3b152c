#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tilejit::cache {

/// What the cache keeps under a key: opaque bytes and a JSON text about them.
struct Entry {
  std::string payload;
  std::string metadata;
  bool operator==(const Entry&) const = default;
};
using EntryPtr = std::shared_ptr<const Entry>;

/// Where an answer came from.
enum class Tier : std::uint8_t { memory, disk, made };
[[nodiscard]] std::string_view to_string(Tier tier) noexcept;  ///< "memory", "disk", "made"

struct Options {
  std::filesystem::path folder = {};      ///< empty: memory only
  std::size_t memory_bytes = 256u << 20;  ///< bound of the memory tier, LRU; 0: none
  /// Told once of each kind of trouble; called from any thread that makes a request.
  std::function<void(const std::string&)> warn = {};
};

/// Counts since construction. `memory_hits`: answers out of this process, those shared with another
/// caller's `make` included. `made`: calls of `make` that returned. `damaged`: entries found broken
/// and set aside. `failures`: requests that went on without the disk.
struct Counters {
  std::uint64_t memory_hits = 0, disk_hits = 0, made = 0, damaged = 0, failures = 0;
};

struct Answer {
  EntryPtr entry;
  Tier tier = Tier::made;
};

/// 64 hex digits: SHA-256 of `text`.
[[nodiscard]] std::string sha256_hex(std::string_view text);

/// The bytes of an entry's file (cache/FORMAT.md): payload, metadata, trailer.
[[nodiscard]] std::string encode_entry(const Entry& entry);
/// Nothing if `file` is truncated, altered, or of another format version.
[[nodiscard]] std::optional<Entry> decode_entry(std::string_view file);

/// Memory, then disk, then `make`. Thread-safe. Keys are 64 lower-case hex digits; every function
/// throws std::invalid_argument for any other key, and for a marker that cannot name a file.
/// Trouble with the disk is never an error: it is warned of once, counted, and the request goes on.
class Store {
 public:
  explicit Store(Options options);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// The entry, if memory or disk has it. Never waits for a running `make`.
  [[nodiscard]] std::optional<Answer> find(const std::string& key);
  /// As find; on a miss `make` is called, by one caller per key at a time: concurrent callers of
  /// the same key wait for it and share its entry (Tier::memory), or its exception. A failure is
  /// not kept. `make` must not ask this store for the same key.
  [[nodiscard]] Answer find_or_make(const std::string& key, const std::function<Entry()>& make);
  /// Publishes an entry in memory and on disk (temporary file, fsync, rename, fsync of the folder).
  void put(const std::string& key, Entry entry);

  /// Markers are empty files beside the entries, `<folder>/v1/<kind>/<name>`, e.g. the compilers
  /// that filled the folder. Adding one again makes it the newest. Both are at most 128 of
  /// [A-Za-z0-9._:-], do not start with '.', and a kind is not two hex digits.
  void add_marker(const std::string& kind, const std::string& name);
  /// Names of the markers of a kind, newest first; empty when there is no folder.
  [[nodiscard]] std::vector<std::string> markers(const std::string& kind) const;

  [[nodiscard]] Counters counters() const;
  /// The file of `key`, whether or not it exists; empty for a memory-only store.
  [[nodiscard]] std::filesystem::path path_of(const std::string& key) const;
  [[nodiscard]] const std::filesystem::path& folder() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilejit::cache
