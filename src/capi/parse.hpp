#pragma once

#include "tilejit/operation.hpp"
#include "tilejit/options.hpp"
#include "tilejit/target.hpp"

namespace tilejit::capi {

/// The only kernel of a spec, read by Options::allow_source. Throws what `validate` throws,
/// Error{invalid_argument} for NULL, and Error{invalid_spec} for several kernels.
[[nodiscard]] Operation parse_spec(const char* spec, const Options& options,
                                   const char* name = "spec");
/// Throws as parse_target, and Error{invalid_argument} for NULL.
[[nodiscard]] Target parse_target_text(const char* target);

/// The environment's options, overridden by those in `json`; NULL overrides nothing. Throws
/// Error{invalid_argument} with a JSON pointer to the member that cannot be used.
[[nodiscard]] Options parse_options(const char* json);

}  // namespace tilejit::capi
