#include "tilejit/target.hpp"

#include <charconv>

#include "tilejit/error.hpp"

namespace tilejit {

std::string to_string(const Target& target) {
  std::string text = "sm_" + std::to_string(target.number());
  if (target.feature != 0) text += target.feature;
  return text;
}

Target parse_target(std::string_view text) {
  const auto refuse = [&]() -> Error {
    return {ErrorCode::unsupported,
            "unknown target '" + std::string(text.substr(0, 40)) +
                "'; write sm_75, sm_80, sm_86, sm_89, sm_90a, sm_100a or sm_120a"};
  };
  if (!text.starts_with("sm_")) throw refuse();
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + 3, end, number);
  const bool has_feature = rest + 1 == end && (*rest == 'a' || *rest == 'f');
  if (error != std::errc{} || number < 75 || number > 999 || (rest != end && !has_feature))
    throw refuse();
  return {.major = number / 10, .minor = number % 10, .feature = has_feature ? *rest : '\0'};
}

}  // namespace tilejit
