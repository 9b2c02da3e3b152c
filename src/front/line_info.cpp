#include "front/line_info.hpp"

namespace tilejit::front {

void add_line_info(compile::Request& request, const operation::Plan& plan,
                   const std::string& name) {
  request.source = {.name = name, .text = operation::flatten(plan.body->source()), .headers = {}};
  request.options.emplace_back(kLineInfoOption);
}

}  // namespace tilejit::front
