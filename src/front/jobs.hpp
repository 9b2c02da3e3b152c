#pragma once

#include "tilejit/options.hpp"

namespace tilejit::front {

/// Compiles at a time: Options::compile_jobs, or what this machine is good for. At least 1.
[[nodiscard]] int jobs_of(const Options& options) noexcept;

}  // namespace tilejit::front
