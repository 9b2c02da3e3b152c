#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace tilejit::cache {

/// What the cache keeps under a key: opaque bytes and a JSON text about them.
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

/// Whether an entry with this metadata is the one of `key`: how a user of the store tells it from
/// another key's that was copied or mixed up. An entry that is not counts as damaged wherever it
/// comes in. Must not throw; called from any thread. Empty: every entry is believed.
using Identity = std::function<bool(std::string_view key, std::string_view metadata)>;

/// Whose folders and bundles are used.
enum class Trust : std::uint8_t {
  own,     ///< the user's own and root's, if nobody else may write to them
  anyone,  ///< every one: whoever may write there decides what runs on the GPU
};

}  // namespace tilejit::cache
