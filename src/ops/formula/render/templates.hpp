#pragma once

#include <string_view>
#include <vector>

#include "render/render.hpp"

namespace tilejit::render {

/// A file of kernels_templates/, embedded by the build.
struct Template {
  std::string_view name;  ///< "fused_map.cu", "tile/math.cuh"
  std::string_view text;
};
[[nodiscard]] const std::vector<Template>& templates();

}  // namespace tilejit::render
