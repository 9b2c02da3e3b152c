#pragma once

#include <string_view>
#include <vector>

namespace tilejit::cuda {

/// A file of kernels_templates/tile/ that the build embeds.
struct Template {
  std::string_view name;  ///< such as "tile/math.cuh"
  std::string_view text;
};
[[nodiscard]] const std::vector<Template>& templates();
/// SHA-256 (hex) of what turns a plan's JSON into source. Computed by the build.
[[nodiscard]] std::string_view generator_digest() noexcept;

}  // namespace tilejit::cuda
