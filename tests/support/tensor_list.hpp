#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tilejit/fused.hpp"

namespace tilejit::test {

/// "x (M,N):(N,1) inout; y M:1": f32 tensors.
inline Fused operation(const std::string& tensors, const char* formula,
                       std::vector<int> axis = {}) {
  Fused op{.formula = formula, .axis = std::move(axis)};
  for (std::size_t at = 0; at < tensors.size();) {
    const std::size_t end = std::min(tensors.find("; ", at), tensors.size());
    const std::string text = tensors.substr(at, end - at);
    const std::size_t name = text.find(' '),
                      layout = std::min(text.find(' ', name + 1), text.size());
    Tensor tensor{text.substr(0, name), f32,
                  parse_layout(text.substr(name + 1, layout - name - 1))};
    if (layout < text.size()) tensor.access = Access::inout;
    op.tensors.push_back(std::move(tensor));
    at = end + 2;
  }
  return op;
}

}  // namespace tilejit::test
