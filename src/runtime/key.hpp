#pragma once

#include <string>
#include <string_view>

#include "compile/nvrtc.hpp"
#include "plan/plan.hpp"

namespace tilejit::runtime {

/// Raised whenever the fields of the key, or their meaning, change.
inline constexpr int kKeySchema = 1;

/// Canonical JSON (names in a fixed order, no spaces) of everything a cubin depends on. The plan
/// stands for the spec too: nothing else of it reaches the source. `build` is the compiler's build
/// id. The cache's key is the SHA-256 of this text.
[[nodiscard]] std::string key_text(const plan::Plan& plan, std::string_view build);

/// The metadata of a cache entry as JSON: the fields of the key, and for people the kernel's name,
/// compiler version, time of day, milliseconds and the resources that ptxas reports.
[[nodiscard]] std::string metadata_text(const plan::Plan& plan, const std::string& key_text,
                                        const compile::Compiled& compiled,
                                        const std::string& compiler_version);

}  // namespace tilejit::runtime
