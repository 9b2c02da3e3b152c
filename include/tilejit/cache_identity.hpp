#pragma once

#include <string_view>

namespace tilejit {

/// Whether an entry of the cache with this metadata is the one of `key`: SHA-256 of the key's
/// fields, with which the metadata begins, is the key. False for metadata without them. What a
/// cache::Identity is to be for a cache::Store, Folder or Bundle of kernels; a Compiler's has it.
/// Takes about 2 us. Thread-safe.
[[nodiscard]] bool is_entry_of(std::string_view key, std::string_view metadata);

}  // namespace tilejit
