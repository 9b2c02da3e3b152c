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
  /// The folder to write to; empty: none.
  std::filesystem::path folder = {};
  /// Read-only folders and bundles, asked in this order after `folder`.
  std::vector<std::filesystem::path> read_only = {};
  /// Read-only hits that take at least this long, as from a network mount, are copied into
  /// `folder`. 0: every hit is; max(): none is. Copying costs about 2 ms, a hit on the same disk
  /// 0.03 ms.
  std::chrono::microseconds copy_after = std::chrono::milliseconds(1);
  /// Bundles must be signed by this key; empty: no signature is required.
  std::optional<PublicKey> bundle_signer = {};
  /// Capacity of the memory tier (LRU), in bytes; 0: no memory tier.
  std::size_t memory_bytes = 256u << 20;
  Trust trust = Trust::own;
  /// Tells which key an entry belongs to. Used in every tier.
  Identity identity = {};
  /// How long a miss waits for another process that makes the same entry. After that it makes its
  /// own entry and warns of the other process.
  std::chrono::milliseconds lock_wait = std::chrono::seconds(30);
  /// How long a failed `make` is remembered, in memory only. Until then requests get its error.
  std::chrono::milliseconds failure_ttl = std::chrono::seconds(1);
  /// Bounds of the folder. A background pass enforces them about once an hour (cache/FORMAT.md).
  Bounds bounds = {};
  /// A server that is asked last, before an entry is made; empty url: none. Its hits are written
  /// into `folder`, and new entries are uploaded in the background if its mode allows. The store
  /// sets `verify` and `warn` itself.
  RemoteOptions remote = {};
  /// Called once for each kind of trouble, from any thread that makes a request.
  std::function<void(const std::string&)> warn = {};
};

/// A remote that must have every entry (RemoteMode::must_hit) did not return one.
class MissingEntry : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Answer {
  EntryPtr entry;
  Tier tier = Tier::made;
};

/// Asks memory, then the folder, the read-only places and the remote, then calls `make`.
/// Thread-safe. Keys are 64 lower-case hex digits. Every function throws std::invalid_argument for
/// any other key, and for a marker that cannot name a file. Trouble with a tier is never an error:
/// it is counted and warned of once, and the request continues without that tier. Hits are kept in
/// memory; those of the remote, and slow read-only ones, also in the folder (Options::copy_after).
class Store {
 public:
  /// Throws std::invalid_argument if the url of the remote cannot be used.
  explicit Store(Options options);
  /// Waits for a running pass that enforces the bounds, and for uploads, at most for
  /// RemoteOptions::shutdown_timeout.
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// The entry, if a tier has it. Never waits for a running `make`.
  [[nodiscard]] std::optional<Answer> find(const std::string& key);
  /// The tier that has the entry: memory, the folder or a read-only place; the remote is not asked.
  /// Reads only the trailer of a file. That shows that the file is complete, not that its bytes are
  /// right; reading the entry verifies them. Changes no counter. Counts as a use of an entry of the
  /// folder.
  [[nodiscard]] std::optional<Tier> locate(const std::string& key);
  /// As find, but a miss calls `make`, once per key at a time. Other threads that want the key wait
  /// for that call and share its entry (Tier::memory) or its exception. After a failure every
  /// caller gets the exception for Options::failure_ttl. Other processes that use the folder wait
  /// for the call, at most for Options::lock_wait, and then find its entry. `make` must not ask
  /// this store for the same key. Throws MissingEntry, without calling `make`, if a remote must
  /// have every entry.
  [[nodiscard]] Answer find_or_make(const std::string& key, const std::function<Entry()>& make);
  /// Publishes an entry in memory and on disk (temporary file, fsync, rename, fsync of the folder).
  void put(const std::string& key, Entry entry);

  /// Writes a text for people beside the entry of `key`, as `<key>.<suffix>`, in the folder only.
  /// It is removed together with the entry. `suffix` has 1 to 8 lower-case letters and is not
  /// "cubin", "tmp" or "damaged".
  void keep(const std::string& key, const std::string& suffix, const std::string& text);

  /// Adds a marker: an empty file beside the entries, `<folder>/v1/<kind>/<name>`. Markers list,
  /// for example, the compilers that filled the folder. Adding one again makes it the newest. Kind
  /// and name have at most 128 characters of [A-Za-z0-9._:-] and do not start with '.'. A kind is
  /// neither two hex digits nor "lock".
  void add_marker(const std::string& kind, const std::string& name);
  /// Names of the markers of a kind, newest first. Those of the folder come before read-only ones.
  [[nodiscard]] std::vector<std::string> markers(const std::string& kind) const;

  [[nodiscard]] Counters counters() const;
  /// The path of the file for `key`, which need not exist; empty for a store without a folder.
  [[nodiscard]] std::filesystem::path path_of(const std::string& key) const;
  [[nodiscard]] const std::filesystem::path& folder() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilejit::cache
