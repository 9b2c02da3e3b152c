#pragma once

#include <string>

#include "help/usage.hpp"

namespace tilejit::cli {

/// Scripts that complete commands, options and values of `command` and of all commands below it.
[[nodiscard]] std::string bash_completion(const CommandUsage& command);
[[nodiscard]] std::string zsh_completion(const CommandUsage& command);
[[nodiscard]] std::string fish_completion(const CommandUsage& command);

}  // namespace tilejit::cli
