#pragma once

#include <string>
#include <string_view>

#include "front/compile_options.hpp"
#include "front/line_info.hpp"
#include "operation/plan.hpp"
#include "tilejit/compiler.hpp"

namespace tilejit::front {

/// Raised whenever the fields of the key, or their meaning, change.
inline constexpr int kKeySchema = 2;

/// Canonical JSON (names in a fixed order, no spaces) of everything a cubin depends on. The plan
/// stands for the spec too: nothing else of it reaches the source. `build` is the compiler's build
/// id. The cache's key is the SHA-256 of this text.
[[nodiscard]] std::string key_text(const operation::Plan& plan, std::string_view build,
                                   LineInfo line_info = LineInfo::no, Effort effort = Effort::full);

/// The metadata of a cache entry as JSON: the fields of the key on the first line, by which
/// is_entry_of tells whose entry it is, and for people the kernel's name,
/// compiler version, time of day, milliseconds a stage and the resources that ptxas reports in the
/// compiler's `log`. Names no path, user or host: an entry may be given away.
[[nodiscard]] std::string metadata_text(const operation::Plan& plan, const std::string& key_text,
                                        const std::string& log, const std::string& compiler_version,
                                        const StageTimes& times);

}  // namespace tilejit::front
