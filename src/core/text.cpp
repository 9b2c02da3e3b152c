#include "core/text.hpp"

#include <algorithm>

namespace tilejit::core {

bool is_identifier(std::string_view name) noexcept {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && name.size() <= 64 && is_letter(name[0]) &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

std::string shortened(std::string text) {
  constexpr std::size_t kMost = 60;
  if (text.size() > kMost) text.replace(kMost, text.npos, "...");
  return text;
}

}  // namespace tilejit::core
