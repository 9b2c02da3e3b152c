#pragma once

#include <string>
#include <string_view>

namespace tilejit::core {

/// `pointer` + "/" + `token`, escaped as RFC 6901 says. A long token is cut to its first 80 bytes.
[[nodiscard]] std::string pointer_to(const std::string& pointer, std::string_view token);

}  // namespace tilejit::core
