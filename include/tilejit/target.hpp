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
/// Throws Error{unsupported} unless `text` has the form sm_NN, sm_NNa or sm_NNf with NN from 75 on.
/// Whether NVRTC knows the target shows when it compiles.
[[nodiscard]] Target parse_target(std::string_view text);

}  // namespace tilejit
