#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tilejit/fused.hpp"

namespace tilejit::test {

/// `formula` over tensors, given as {name, layout text}, that all have `dtype`.
inline Fused make_op(DType dtype, const std::vector<std::pair<std::string, std::string>>& tensors,
                     const std::string& formula) {
  Fused op{.name = "test"};
  for (const auto& [name, layout] : tensors)
    op.tensors.push_back({.name = name, .dtype = dtype, .layout = layout});
  op.formula = formula;
  return op;
}

}  // namespace tilejit::test
