#pragma once

#include <string_view>

namespace tilejit::core {

/// True for [A-Za-z_][A-Za-z0-9_]{0,63}.
[[nodiscard]] bool is_identifier(std::string_view name) noexcept;

}  // namespace tilejit::core
