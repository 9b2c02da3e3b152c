#include "front/line_info.hpp"

#include "render/render.hpp"

namespace tilejit::front {

void add_line_info(compile::Request& request, const plan::Plan& plan, const std::string& name) {
  request.source = {.name = name, .text = render::flatten(render::render(plan)), .headers = {}};
  request.options.emplace_back(kLineInfoOption);
}

}  // namespace tilejit::front
