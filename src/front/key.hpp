#pragma once

#include <string>
#include <string_view>

#include "front/compile_options.hpp"
#include "front/line_info.hpp"
#include "operation/plan.hpp"
#include "tilejit/compiler.hpp"

namespace tilejit::front {

/// Raised whenever the fields of the key or their meaning change.
inline constexpr int kKeySchema = 2;

/// Canonical JSON (names in a fixed order, no spaces) of everything that a cubin depends on. The
/// plan also stands for the spec: nothing else of the spec reaches the source. `build` is the
/// compiler's build id. The cache's key is the SHA-256 of this text.
[[nodiscard]] std::string key_text(const operation::Plan& plan, std::string_view build,
                                   LineInfo line_info = LineInfo::no, Effort effort = Effort::full);

/// The metadata of a cache entry as JSON. The fields of the key are on the first line; is_entry_of
/// compares them with a key. The rest is for people: the kernel's name, the compiler's version, the
/// time of day, milliseconds per step, and the resources that ptxas reports in the compiler's
/// `log`. It names no path, user or host, so that an entry may be given away.
[[nodiscard]] std::string metadata_text(const operation::Plan& plan, const std::string& key_text,
                                        const std::string& log, const std::string& compiler_version,
                                        const StepTimes& times);

}  // namespace tilejit::front
