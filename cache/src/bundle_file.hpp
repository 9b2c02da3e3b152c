#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bundle_format.hpp"
#include "entry_file.hpp"
#include "layer.hpp"
#include "posix_file.hpp"
#include "tilejit/cache/bundle.hpp"

namespace tilejit::cache {

/// An open bundle. Its index is in memory. Entries are read on request, not mapped: if a mapped
/// file is truncated, SIGBUS ends the process. A read takes 4 us more per hit than a map, out of 19
/// us (docs/performance.md). Thread-safe.
class BundleFile {
 public:
  /// Throws as Bundle's constructor.
  BundleFile(const std::string& path, Trust trust, const std::optional<PublicKey>& signer,
             Identity identity);

  [[nodiscard]] ReadResult read(const std::string& key) const;
  /// True if the index has the key and the entry at its place has a matching trailer.
  [[nodiscard]] bool has(const std::string& key) const;
  [[nodiscard]] std::optional<std::string> metadata(const std::string& key) const;
  [[nodiscard]] std::vector<std::string> markers(const std::string& kind) const;
  [[nodiscard]] VerifyReport verify() const;

  /// Calls `see` for every record with a correct check, by key.
  void each(const std::function<void(const Record&)>& see) const;
  /// The bytes of an entry's file, verified as `read` does; nothing if they are not that entry.
  [[nodiscard]] std::optional<std::string> file_of(const Record& record) const;
  /// All markers, each as "<kind>/<name>" and a newline.
  [[nodiscard]] std::string_view marker_text() const noexcept;
  [[nodiscard]] std::optional<PublicKey> signer() const;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const Identity& identity() const noexcept { return identity_; }

 private:
  [[nodiscard]] std::uint64_t open(Trust trust);
  void read_parts(std::uint64_t file_bytes);
  [[nodiscard]] std::string_view record_at(std::uint64_t i) const noexcept;
  [[nodiscard]] std::optional<std::string_view> find_record(const Digest& key) const noexcept;
  /// Nothing if the record points to a place where entries cannot lie.
  [[nodiscard]] std::optional<Extent> extent_of(const Record& record) const noexcept;
  [[nodiscard]] ReadResult read(const Record& record) const;
  [[nodiscard]] bool entries_fill_the_file(std::vector<Record> records) const;
  /// The place of an entry; sets `lengths` if its trailer matches.
  [[nodiscard]] Extent find_whole(const std::string& key,
                                  std::optional<EntryLengths>& lengths) const;

  std::string path_;
  Identity identity_;
  UniqueFd fd_;
  BundleParts parts_;
  std::string tail_;  // index, markers and trailer
};

}  // namespace tilejit::cache
