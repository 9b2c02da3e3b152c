#pragma once

#include <string_view>
#include <vector>

#include "render/render.hpp"

namespace tilejit::render {

/// A file of kernels_templates/ that the build embeds.
struct Template {
  std::string_view name;  ///< such as "fused_map.cu" or "tile/math.cuh"
  std::string_view text;
};
[[nodiscard]] const std::vector<Template>& templates();

}  // namespace tilejit::render
