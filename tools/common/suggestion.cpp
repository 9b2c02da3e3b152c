#include "common/suggestion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/suggestion.hpp"

namespace tilejit::cli {

std::string suggestion(std::string_view name, const std::vector<std::string>& names) {
  const std::vector<std::string_view> known(names.begin(), names.end());
  return core::did_you_mean(core::nearest_name(name, known));
}

std::string suggestion_or_list(std::string_view name, const std::vector<std::string>& names,
                               std::string_view have) {
  constexpr std::size_t kFew = 12;
  const std::string nearest = suggestion(name, names);
  if (!nearest.empty() || names.empty() || names.size() > kFew) return nearest;
  return fmt::format("; {} {}", have, fmt::join(names, ", "));
}

}  // namespace tilejit::cli
