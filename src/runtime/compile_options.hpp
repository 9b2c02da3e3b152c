#pragma once

#include <string>
#include <vector>

namespace tilejit::runtime {

/// Our options, beside compile::default_options().
[[nodiscard]] const std::vector<std::string>& own_options();

/// All that the compiler is told beside the target: a part of the key.
[[nodiscard]] const std::vector<std::string>& all_options();

}  // namespace tilejit::runtime
