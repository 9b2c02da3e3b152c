#include "front/line_info.hpp"

namespace tilejit::front {

void add_line_info(compile::Request& request, const std::string& name) {
  if (!request.source.own) {
    request.source = {.name = name, .text = operation::flatten(request.source), .headers = {}};
  }
  request.options.emplace_back(kLineInfoOption);
}

}  // namespace tilejit::front
