#pragma once

#include <string_view>
#include <vector>

namespace tilejit::templates {

/// A file of kernels_templates/ that the build embeds.
struct Template {
  std::string_view name;  ///< such as "fused_map.cu" or "tile/math.cuh"
  std::string_view text;
};
/// The tile library: all files of kernels_templates/tile/, by name.
[[nodiscard]] const std::vector<Template>& tile_library();
/// The kernels: all files of kernels_templates/ itself, by name.
[[nodiscard]] const std::vector<Template>& kernels();

}  // namespace tilejit::templates
