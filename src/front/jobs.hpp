#pragma once

#include "tilejit/options.hpp"

namespace tilejit::front {

/// The number of parallel compiles: Options::compile_jobs, or what suits this machine. At least 1.
[[nodiscard]] int jobs_of(const Options& options) noexcept;

}  // namespace tilejit::front
