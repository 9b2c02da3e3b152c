#pragma once

#include <string>
#include <string_view>

namespace tilejit {

/// What a cubin is made for: "sm_80", "sm_90a", "sm_120a". A value type.
struct Target {
  int major = 9;
  int minor = 0;
  char feature = 'a';  ///< 'a' (architecture-specific), 'f' (family), or 0

  /// Compute capability as one number: 90.
  [[nodiscard]] int number() const noexcept { return major * 10 + minor; }
  bool operator==(const Target&) const = default;
};

/// "sm_90a"
[[nodiscard]] std::string to_string(const Target& target);
/// Throws Error{unsupported} unless `text` is sm_NN of an architecture from sm_75 to sm_121, sm_NNa
/// from 90 on or sm_NNf from 100 on. Whether the installed NVRTC knows it shows at the first
/// compile: older ones lack the newest targets, newer ones some that were renamed.
[[nodiscard]] Target parse_target(std::string_view text);

}  // namespace tilejit
