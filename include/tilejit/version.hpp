#pragma once

#include <string_view>

namespace tilejit {

/// The library's version, "0.1.0".
[[nodiscard]] std::string_view version() noexcept;

}  // namespace tilejit
