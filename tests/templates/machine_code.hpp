#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.hpp"
#include "render/render.hpp"
#include "support/sass.hpp"
#include "templates/nvrtc.hpp"

namespace tilejit::test {

/// The instructions of the kernel of a formula. Only if has_disassembler().
inline std::vector<std::string> machine_code(const Fused& op, std::string_view target) {
  const plan::Plan plan = plan::make_plan(op, formula::analyze(op), parse_target(target));
  const operation::Source source = render::render(plan);
  const compile::Compiled compiled =
      nvrtc().compile({.source = {source.name, source.text, source.headers},
                       .target = std::string(target),
                       .options = {},
                       .want_ptx = false});
  return sass_of(compiled.cubin).at(plan.kernel_name);
}

}  // namespace tilejit::test
