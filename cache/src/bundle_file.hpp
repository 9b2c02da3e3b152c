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

/// An open bundle. Its index is in memory; entries are read when they are asked for, not mapped: a
/// file that is cut under a map ends the process by SIGBUS. Reading takes 4 us a hit more than a
/// map did, of 19 (docs/performance.md). Thread-safe.
class BundleFile {
 public:
  /// Throws as Bundle's constructor.
  BundleFile(const std::string& path, Trust trust, const std::optional<PublicKey>& signer,
             Identity identity);

  [[nodiscard]] ReadResult read(const std::string& key) const;
  /// Whether its index has the key, and a trailer fits where the entry is said to be.
  [[nodiscard]] bool has(const std::string& key) const;
  [[nodiscard]] std::optional<std::string> metadata(const std::string& key) const;
  [[nodiscard]] std::vector<std::string> markers(const std::string& kind) const;
  [[nodiscard]] VerifyReport verify() const;

  /// Calls `see` with every record whose check fits, by key.
  void each(const std::function<void(const Record&)>& see) const;
  /// The bytes of an entry's file, verified as `read` does; nothing if they are not its.
  [[nodiscard]] std::optional<std::string> file_of(const Record& record) const;
  /// Of all markers: "<kind>/<name>" and a newline each.
  [[nodiscard]] std::string_view marker_text() const noexcept;
  [[nodiscard]] std::optional<PublicKey> signer() const;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const Identity& identity() const noexcept { return identity_; }

 private:
  [[nodiscard]] std::uint64_t open(Trust trust);
  void read_parts(std::uint64_t file_bytes);
  [[nodiscard]] std::string_view record_at(std::uint64_t i) const noexcept;
  [[nodiscard]] std::optional<std::string_view> find_record(const Digest& key) const noexcept;
  /// Nothing if the entry is said to lie where entries do not.
  [[nodiscard]] std::optional<Extent> extent_of(const Record& record) const noexcept;
  [[nodiscard]] ReadResult read(const Record& record) const;
  [[nodiscard]] bool entries_fill_the_file(std::vector<Record> records) const;
  /// Where an entry lies; `lengths` if its trailer fits it.
  [[nodiscard]] Extent find_whole(const std::string& key,
                                  std::optional<EntryLengths>& lengths) const;

  std::string path_;
  Identity identity_;
  UniqueFd fd_;
  BundleParts parts_;
  std::string tail_;  // index, markers and trailer
};

}  // namespace tilejit::cache
