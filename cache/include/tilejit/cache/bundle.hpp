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
/// Of "-----BEGIN PUBLIC KEY-----", as `openssl pkey -pubout` writes it. Throws
/// std::invalid_argument if it is no Ed25519 key.
[[nodiscard]] PublicKey parse_public_key(const std::string& pem);
/// 64 hex digits.
[[nodiscard]] std::string to_string(const PublicKey& key);

struct ImportReport {
  std::uint64_t added = 0, added_bytes = 0;
  std::uint64_t present = 0;  ///< entries that the folder has already
};

/// Many entries in one file that is only read (cache/FORMAT.md). Its index, 88 bytes an entry, is
/// kept in memory; an entry is one read of the file. Thread-safe. A bundle is replaced by a rename:
/// a process that has it open reads the old one. One that is changed in place has damaged entries.
class Bundle {
 public:
  /// Throws std::runtime_error: cannot be read, refused (Trust), not a whole bundle, or, with a
  /// `signer`, not signed by that key. Entries are verified when they are read; those that are not
  /// of their key by `identity` are damaged ones.
  explicit Bundle(const std::filesystem::path& path, Trust trust = Trust::own,
                  const std::optional<PublicKey>& signer = {}, Identity identity = {});
  ~Bundle();
  Bundle(Bundle&&) noexcept;
  Bundle& operator=(Bundle&&) noexcept;

  [[nodiscard]] std::vector<EntryInfo> list() const;  ///< by key
  /// The entry, verified; nothing if there is none, or none that verifies.
  [[nodiscard]] std::optional<Entry> read(const std::string& key) const;
  /// Only its metadata, not verified: to list many.
  [[nodiscard]] std::optional<std::string> metadata(const std::string& key) const;
  /// In the order in which they were added.
  [[nodiscard]] std::vector<std::string> markers(const std::string& kind) const;
  /// Every byte of the file, and the signature if it has one.
  [[nodiscard]] VerifyReport verify() const;
  /// Who says to have signed it; verify() tells whether that is true.
  [[nodiscard]] std::optional<PublicKey> signer() const;
  [[nodiscard]] const std::filesystem::path& path() const noexcept;

 private:
  friend ImportReport import_bundle(const Bundle& bundle, const std::filesystem::path& folder,
                                    Trust trust);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Writes a bundle. It appears under its name whole, at `finish`, or never.
class BundleWriter {
 public:
  /// Throws std::runtime_error if the file cannot be created beside `path`.
  explicit BundleWriter(const std::filesystem::path& path);
  ~BundleWriter();
  BundleWriter(const BundleWriter&) = delete;
  BundleWriter& operator=(const BundleWriter&) = delete;

  /// False, and nothing is added, if the key is there already. Throws std::runtime_error if the
  /// disk cannot take it, std::invalid_argument for a key that is none.
  bool add(const std::string& key, const Entry& entry);
  /// Throws std::invalid_argument for a name that is none, std::runtime_error beyond 64 KiB of
  /// them.
  void add_marker(const std::string& kind, const std::string& name);
  /// `private_key`: Ed25519, in PEM, as `openssl genpkey -algorithm ed25519` writes it; empty: not
  /// signed. Throws std::runtime_error, std::invalid_argument for a bad key. Called once.
  void finish(const std::string& private_key = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Copies every entry and marker into a folder, all or none: the whole bundle is verified first,
/// then every entry is written and on the disk before the first gets its name. The bundle's
/// identity is that of the folder too. Throws std::runtime_error.
ImportReport import_bundle(const Bundle& bundle, const std::filesystem::path& folder,
                           Trust trust = Trust::own);

}  // namespace tilejit::cache
