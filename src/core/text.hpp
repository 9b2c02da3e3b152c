#pragma once

#include <string>
#include <string_view>

namespace tilejit::core {

/// True for [A-Za-z_][A-Za-z0-9_]{0,63}.
[[nodiscard]] bool is_identifier(std::string_view name) noexcept;

/// `text` cut to a length that fits a message: at most 60 bytes, then "...".
[[nodiscard]] std::string shortened(std::string text);

}  // namespace tilejit::core
