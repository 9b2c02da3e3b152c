#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilejit::cli {

/// "; did you mean 'composition'?", or an empty text if no name is near.
[[nodiscard]] std::string suggestion(std::string_view name, const std::vector<std::string>& names);

/// The same; if no name is near and there are only a few, "; it has M, N". `have` is "it has".
[[nodiscard]] std::string suggestion_or_list(std::string_view name,
                                             const std::vector<std::string>& names,
                                             std::string_view have);

}  // namespace tilejit::cli
