#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilejit::cli {

/// "; did you mean 'composition'?", or nothing where no name is near.
[[nodiscard]] std::string suggestion(std::string_view name, const std::vector<std::string>& names);

}  // namespace tilejit::cli
