#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilejit/options.hpp"

namespace tilejit::front {

/// How much the compiler optimises.
enum class Effort : std::uint8_t { full, quick };

/// The effort of compiles that are not tiered.
[[nodiscard]] inline Effort effort_of(const Options& options) noexcept {
  return options.compile_effort == CompileEffort::quick ? Effort::quick : Effort::full;
}

/// The options that this library adds to compile::default_options().
[[nodiscard]] const std::vector<std::string>& own_options(Effort effort);

/// All compiler options except the target: a part of the key.
[[nodiscard]] const std::vector<std::string>& all_options(Effort effort);

}  // namespace tilejit::front
