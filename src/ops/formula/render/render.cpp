#include "render/render.hpp"

#include <algorithm>

#include "render/several.hpp"
#include "render/writers.hpp"
#include "templates/templates.hpp"

namespace tilejit::render {

std::string render_header(const plan::Plan& plan) {
  Budget budget;
  return write_header(plan, budget);
}

operation::Source render(const plan::Plan& plan) {
  Budget budget;
  return plan::parts_of(plan).empty() ? render_kernel(plan, budget) : render_parts(plan, budget);
}

operation::Source render_kernel(const plan::Plan& plan, Budget& budget) {
  operation::Source source{.name = plan.kernel_name + ".cu", .text = {}, .headers = {}};
  const std::string kernel = std::string(plan::template_name(plan)) + ".cu";
  source.text = std::ranges::find(templates::kernels(), kernel, &templates::Template::name)->text;
  for (const templates::Template& file : templates::tile_library()) {
    source.headers.emplace_back(file.name, file.text);
  }
  source.headers.emplace_back("plan.cuh", write_header(plan, budget));
  return source;
}

}  // namespace tilejit::render
