#include "tilejit/target.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "tilejit/error.hpp"

namespace tilejit {
namespace {

/// The architectures of NVRTC 12 and 13 from 75 on (CUDA C++ Programming Guide, "Compute
/// Capabilities").
constexpr std::array kArchitectures = {75, 80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121};

/// Architecture-specific features came with 9.0, family-specific ones with 10.0.
bool has_feature(int number, char feature) noexcept {
  return (feature == 'a' && number >= 90) || (feature == 'f' && number >= 100);
}

}  // namespace

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
  const char feature = error == std::errc{} && rest + 1 == end ? *rest : '\0';
  const bool whole = error == std::errc{} && (rest == end || has_feature(number, feature));
  if (!whole || std::ranges::find(kArchitectures, number) == kArchitectures.end()) throw refuse();
  return {.major = number / 10, .minor = number % 10, .feature = feature};
}

}  // namespace tilejit
