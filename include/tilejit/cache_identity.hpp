#pragma once

#include <string_view>

namespace tilejit {

/// Whether an entry of the cache with this metadata is that of `key`: the SHA-256 of the key's
/// fields, with which the metadata begins, must be the key. False for metadata without them. The
/// cache::Identity of a cache::Store, Folder or Bundle of kernels; a Compiler's store has it. Takes
/// about 2 us. Thread-safe.
[[nodiscard]] bool is_entry_of(std::string_view key, std::string_view metadata);

}  // namespace tilejit
