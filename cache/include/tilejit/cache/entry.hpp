#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace tilejit::cache {

/// The content of a cache key: opaque bytes and a JSON text about them.
struct Entry {
  std::string payload;
  std::string metadata;
  bool operator==(const Entry&) const = default;
};
using EntryPtr = std::shared_ptr<const Entry>;

/// 64 hex digits: SHA-256 of `text`.
[[nodiscard]] std::string sha256_hex(std::string_view text);

/// The bytes of an entry's file (cache/FORMAT.md): payload, metadata, trailer.
[[nodiscard]] std::string encode_entry(const Entry& entry);
/// Nothing if `file` is truncated, altered, or of another format version.
[[nodiscard]] std::optional<Entry> decode_entry(std::string_view file);

/// Whether `key` is 64 lower-case hex digits.
[[nodiscard]] bool is_key(std::string_view key) noexcept;

/// Tells whether an entry with this metadata belongs to `key`. With it, a user of the store detects
/// entries that were copied or mixed up between keys. An entry that does not belong to its key
/// counts as damaged in every tier. Must not throw; called from any thread. Empty: all entries are
/// accepted.
using Identity = std::function<bool(std::string_view key, std::string_view metadata)>;

/// The owners whose folders and bundles are used.
enum class Trust : std::uint8_t {
  own,     ///< those of the user and of root that nobody else may write to
  anyone,  ///< all; whoever may write there decides what runs on the GPU
};

}  // namespace tilejit::cache
