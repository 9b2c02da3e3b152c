#pragma once

#include <string>
#include <string_view>

namespace tilejit::cache {

/// Two lower-case hex digits: a folder of entries.
[[nodiscard]] bool is_entry_folder(std::string_view name) noexcept;

/// What a key's file is called, e.g. "<key>.cubin" (cache/FORMAT.md).
[[nodiscard]] std::string entry_name(std::string_view key);

// Each throws std::invalid_argument, naming the argument.
void check_key(std::string_view key);
void check_marker(std::string_view name);
void check_suffix(std::string_view suffix);
void check_kind(std::string_view kind);

}  // namespace tilejit::cache
