#pragma once

#include <string>
#include <string_view>

namespace tilejit::cache {

/// True for two lower-case hex digits, the name of a folder of entries.
[[nodiscard]] bool is_entry_folder(std::string_view name) noexcept;

/// The file name of a key's entry, "<key>.cubin" (cache/FORMAT.md).
[[nodiscard]] std::string entry_name(std::string_view key);

// Each throws std::invalid_argument that names the argument.
void check_key(std::string_view key);
void check_marker(std::string_view name);
void check_suffix(std::string_view suffix);
void check_kind(std::string_view kind);

}  // namespace tilejit::cache
