#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilejit/cache/entry.hpp"
#include "tilejit/cache/folder.hpp"

namespace tilejit::cache {

/// An Ed25519 public key.
using PublicKey = std::array<unsigned char, 32>;
/// Reads "-----BEGIN PUBLIC KEY-----" as `openssl pkey -pubout` writes it. Throws
/// std::invalid_argument if the text is not an Ed25519 key.
[[nodiscard]] PublicKey parse_public_key(const std::string& pem);
/// 64 hex digits.
[[nodiscard]] std::string to_string(const PublicKey& key);

struct ImportReport {
  std::uint64_t added = 0, added_bytes = 0;
  std::uint64_t present = 0;  ///< entries that the folder already has
};

/// Many entries in one read-only file (cache/FORMAT.md). The index, 88 bytes per entry, is kept in
/// memory; reading an entry takes one read of the file. Thread-safe. Replace a bundle by a rename:
/// processes that have the old one open keep reading it. Changing a bundle in place damages its
/// entries.
class Bundle {
 public:
  /// Throws std::runtime_error if the file cannot be read, is refused (Trust), is not a whole
  /// bundle, or, with a `signer`, is not signed by that key. Entries are verified when they are
  /// read; those that do not belong to their key by `identity` count as damaged.
  explicit Bundle(const std::filesystem::path& path, Trust trust = Trust::own,
                  const std::optional<PublicKey>& signer = {}, Identity identity = {});
  ~Bundle();
  Bundle(Bundle&&) noexcept;
  Bundle& operator=(Bundle&&) noexcept;

  [[nodiscard]] std::vector<EntryInfo> list() const;  ///< by key
  /// The verified entry; nothing if there is none, or if it does not verify.
  [[nodiscard]] std::optional<Entry> read(const std::string& key) const;
  /// Only the metadata, not verified. Meant for listing many entries.
  [[nodiscard]] std::optional<std::string> metadata(const std::string& key) const;
  /// The markers of a kind in the order in which they were added.
  [[nodiscard]] std::vector<std::string> markers(const std::string& kind) const;
  /// Verifies every byte of the file, and the signature if there is one.
  [[nodiscard]] VerifyReport verify() const;
  /// The key that claims to have signed the bundle; verify() tells whether that is true.
  [[nodiscard]] std::optional<PublicKey> signer() const;
  [[nodiscard]] const std::filesystem::path& path() const noexcept;

 private:
  friend ImportReport import_bundle(const Bundle& bundle, const std::filesystem::path& folder,
                                    Trust trust);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Writes a bundle. The file appears under its name at `finish`, complete, or never.
class BundleWriter {
 public:
  /// Throws std::runtime_error if the file cannot be created beside `path`.
  explicit BundleWriter(const std::filesystem::path& path);
  ~BundleWriter();
  BundleWriter(const BundleWriter&) = delete;
  BundleWriter& operator=(const BundleWriter&) = delete;

  /// Returns false and adds nothing if the key is already there. Throws std::runtime_error if the
  /// disk cannot take the entry, std::invalid_argument for an invalid key.
  bool add(const std::string& key, const Entry& entry);
  /// Throws std::invalid_argument for an invalid name, std::runtime_error beyond 64 KiB of markers.
  void add_marker(const std::string& kind, const std::string& name);
  /// `private_key` is Ed25519 in PEM, as `openssl genpkey -algorithm ed25519` writes it; empty: not
  /// signed. Throws std::runtime_error; std::invalid_argument for an invalid key. Called once.
  void finish(const std::string& private_key = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Copies all entries and markers into a folder, or none of them: it verifies the whole bundle and
/// writes every entry to the disk before the first one gets its name. The folder uses the bundle's
/// identity, too. Throws std::runtime_error.
ImportReport import_bundle(const Bundle& bundle, const std::filesystem::path& folder,
                           Trust trust = Trust::own);

}  // namespace tilejit::cache
