#pragma once

#include <string_view>

#include "tilejit/options.hpp"

namespace tilejit {

/// `options` with what `text` asks for: words between blanks, named as CuTe DSL names its compile
/// options. `--keep-cubin`: what a cache folder always does; `--keep-ptx --keep-sass --keep-source
/// --keep-log`: CacheKeep; `--generate-line-info`, `--deterministic`; `--effort=full`, `quick` or
/// `tiered`. Throws Error{invalid_argument} for any other word, and for one that keeps files if
/// there is no cache folder. Pure.
[[nodiscard]] Options with_option_text(Options options, std::string_view text);

}  // namespace tilejit
