#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bundle_format.hpp"
#include "entry_format.hpp"
#include "layer.hpp"
#include "posix_file.hpp"
#include "tilejit/cache/bundle.hpp"

namespace tilejit::cache {

/// A bundle in memory. Thread-safe.
class MappedBundle {
 public:
  /// Throws as Bundle's constructor.
  MappedBundle(const std::string& path, Trust trust, const std::optional<PublicKey>& signer);
  ~MappedBundle();
  MappedBundle(const MappedBundle&) = delete;
  MappedBundle& operator=(const MappedBundle&) = delete;

  [[nodiscard]] ReadResult read(const std::string& key) const;
  /// Whether its index has the key, and a trailer fits where the entry is said to be.
  [[nodiscard]] bool has(const std::string& key) const;
  [[nodiscard]] std::optional<std::string> metadata(const std::string& key) const;
  [[nodiscard]] std::vector<std::string> markers(const std::string& kind) const;
  [[nodiscard]] VerifyReport verify() const;

  /// Calls `see` with every record whose check fits, by key.
  void each(const std::function<void(const Record&)>& see) const;
  /// The bytes of an entry's file; empty if they lie outside the entries.
  [[nodiscard]] std::string_view file_of(const Record& record) const noexcept;
  /// Of all markers: "<kind>/<name>" and a newline each.
  [[nodiscard]] std::string_view marker_text() const noexcept;
  [[nodiscard]] std::optional<PublicKey> signer() const;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  void map(Trust trust);
  [[nodiscard]] std::string_view record_at(std::uint64_t i) const noexcept;
  [[nodiscard]] std::optional<std::string_view> find_record(const Digest& key) const noexcept;
  [[nodiscard]] bool entries_fill_the_file(std::vector<Record> records) const;
  /// A file that was cut short under the map must not be touched: that would end the process.
  [[nodiscard]] bool still_whole() const noexcept;
  /// The file of an entry; `lengths` if its trailer fits it.
  [[nodiscard]] std::string_view whole_file(const std::string& key,
                                            std::optional<EntryLengths>& lengths) const;

  std::string path_;
  UniqueFd fd_;
  std::string_view file_;
  BundleParts parts_;
};

}  // namespace tilejit::cache
