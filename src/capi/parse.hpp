#pragma once

#include "tilejit/operation.hpp"
#include "tilejit/options.hpp"
#include "tilejit/target.hpp"

namespace tilejit::capi {

/// The one kernel of a spec. Throws what `validate` throws, and Error{invalid_argument} for NULL,
/// Error{invalid_spec} for several kernels.
[[nodiscard]] Operation parse_spec(const char* spec, const char* name = "spec");
/// Throws as parse_target, and Error{invalid_argument} for NULL.
[[nodiscard]] Target parse_target_text(const char* target);

/// The environment's options, with those that `json` gives instead; NULL gives none. Throws
/// Error{invalid_argument} with a JSON pointer to the member that cannot be used.
[[nodiscard]] Options parse_options(const char* json);

}  // namespace tilejit::capi
