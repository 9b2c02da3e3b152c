#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tilejit/cache/bundle.hpp"
#include "tilejit/cache/counters.hpp"
#include "tilejit/cache/entry.hpp"
#include "tilejit/cache/folder.hpp"
#include "tilejit/cache/remote_options.hpp"

namespace tilejit::cache {

struct Options {
  /// The folder that is written to; empty: none.
  std::filesystem::path folder = {};
  /// Folders and bundles that are only read, asked in this order after `folder`.
  std::vector<std::filesystem::path> read_only = {};
  /// A hit in one of them that takes as long or longer is copied into `folder`, as from a mount
  /// over a network. 0: every hit; max(): none. Copying costs about 2 ms, a hit on the same disk
  /// 0.03 ms.
  std::chrono::microseconds copy_after = std::chrono::milliseconds(1);
  /// Bundles must be signed by this key; empty: they need not be signed.
  std::optional<PublicKey> bundle_signer = {};
  /// Bound of the memory tier, LRU; 0: none.
  std::size_t memory_bytes = 256u << 20;
  Trust trust = Trust::own;
  /// Tells whose key an entry is, wherever one comes in.
  Identity identity = {};
  /// How long a miss waits for another process that makes the same entry. Then it makes its own,
  /// and warns of the other.
  std::chrono::milliseconds lock_wait = std::chrono::seconds(30);
  /// How long a failed `make` is remembered: until then its error answers. In memory only.
  std::chrono::milliseconds failure_ttl = std::chrono::seconds(1);
  /// Of the folder; kept by a pass in the background, about once an hour (cache/FORMAT.md).
  Bounds bounds = {};
  /// A server that is asked last, before an entry is made; empty url: none. What it has is written
  /// into `folder`, what is made is uploaded in the background, as its mode allows. `verify` and
  /// `warn` are the store's own.
  RemoteOptions remote = {};
  /// Told once of each kind of trouble; called from any thread that makes a request.
  std::function<void(const std::string&)> warn = {};
};

/// A remote that must have every entry (RemoteMode::must_hit) has not given one.
class MissingEntry : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Answer {
  EntryPtr entry;
  Tier tier = Tier::made;
};

/// Memory, then the folder, then what is read only, then the remote, then `make`. Thread-safe. Keys
/// are 64 lower-case hex digits; every function throws std::invalid_argument for any other key, and
/// for a marker that cannot name a file. Trouble with a tier is never an error: it is warned of
/// once, counted, and the request goes on without that tier. A hit is kept in memory; a remote's,
/// and a slow one of what is read only, also in the folder (Options::copy_after).
class Store {
 public:
  /// Throws std::invalid_argument for a url of a remote that cannot be used.
  explicit Store(Options options);
  /// Waits for a pass that keeps the bounds, if one is under way, and for uploads, at most for
  /// RemoteOptions::shutdown_timeout.
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// The entry, if a tier has it. Never waits for a running `make`.
  [[nodiscard]] std::optional<Answer> find(const std::string& key);
  /// Which of memory, the folder and what is read only has the entry; the remote is not asked. Of a
  /// file only the trailer is read, which tells that it is whole, not that its bytes are right: who
  /// reads it verifies them. Changes no counter; of the folder's entries it counts as a use.
  [[nodiscard]] std::optional<Tier> locate(const std::string& key);
  /// As find; on a miss `make` is called, by one caller per key at a time. Other threads that want
  /// the same key wait for it and share its entry (Tier::memory), or its exception; so does every
  /// caller for Options::failure_ttl after it failed. Other processes that use the folder wait for
  /// it, at most for Options::lock_wait, and find its entry. `make` must not ask this store for the
  /// same key. Throws MissingEntry instead of calling it where a remote must have every entry.
  [[nodiscard]] Answer find_or_make(const std::string& key, const std::function<Entry()>& make);
  /// Publishes an entry in memory and on disk (temporary file, fsync, rename, fsync of the folder).
  void put(const std::string& key, Entry entry);

  /// Writes a text for people beside the entry of `key`, `<key>.<suffix>`, in the folder alone. It
  /// goes when the entry goes. `suffix`: 1 to 8 lower-case letters, not "cubin", "tmp" or
  /// "damaged".
  void keep(const std::string& key, const std::string& suffix, const std::string& text);

  /// Markers are empty files beside the entries, `<folder>/v1/<kind>/<name>`, e.g. the compilers
  /// that filled the folder. Adding one again makes it the newest. Both are at most 128 of
  /// [A-Za-z0-9._:-], do not start with '.', and a kind is neither two hex digits nor "lock".
  void add_marker(const std::string& kind, const std::string& name);
  /// Names of the markers of a kind, newest first, the folder's before those of what is read only.
  [[nodiscard]] std::vector<std::string> markers(const std::string& kind) const;

  [[nodiscard]] Counters counters() const;
  /// The file of `key`, whether or not it exists; empty for a store without a folder.
  [[nodiscard]] std::filesystem::path path_of(const std::string& key) const;
  [[nodiscard]] const std::filesystem::path& folder() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilejit::cache
