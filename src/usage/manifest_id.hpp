#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tilejit/target.hpp"

namespace tilejit::usage {

inline constexpr std::size_t kIdDigits = 16;

/// The id of an entry in a manifest: the first digits of SHA-256 over target and spec.
[[nodiscard]] std::string manifest_id(std::string_view spec_text, const Target& target);

}  // namespace tilejit::usage
