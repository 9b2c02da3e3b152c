#include "figures/work.hpp"

namespace tilejit::figures {
namespace {

struct Cost {
  int plain = 1, special = 0;
};

/// Of the functions in kernels_templates/tile/math.cuh and CUDA's own, in single precision.
Cost cost_of(expr::Op op) noexcept {
  using expr::Op;
  switch (op) {
    case Op::constant:
    case Op::load:
    case Op::scalar:
    case Op::index:
    case Op::extent: return {0, 0};
    case Op::div: return {8, 1};
    case Op::floor_div:
    case Op::mod: return {30, 1};
    case Op::pow: return {60, 2};
    case Op::exp: return {6, 1};
    case Op::exp2: return {3, 1};
    case Op::log:
    case Op::log2: return {20, 0};
    case Op::sqrt: return {8, 1};
    case Op::rsqrt: return {2, 1};
    case Op::sin:
    case Op::cos: return {40, 0};
    case Op::tan: return {60, 1};
    case Op::tanh: return {14, 2};
    case Op::erf: return {25, 1};
    case Op::sigmoid: return {14, 2};
    case Op::silu: return {15, 2};
    case Op::gelu: return {28, 1};
    case Op::gelu_tanh: return {20, 2};
    case Op::clamp: return {2, 0};
    default: return {1, 0};
  }
}

}  // namespace

Work work_of(const plan::Plan& plan) {
  Work work;
  std::vector<bool> varies;  // a node: differs among the elements of a row
  for (const expr::Node& node : plan.program.nodes) {
    bool of_element = node.op == expr::Op::load || node.op == expr::Op::index;
    for (const expr::NodeId arg : node.args) {
      of_element = of_element || (arg != expr::kNoNode && varies[static_cast<std::size_t>(arg)]);
    }
    if (of_element) {
      const Cost cost = cost_of(node.op);
      (node.type == f64 ? work.f64 : work.f32) += cost.plain;
      work.special += cost.special;
    }
    varies.push_back(of_element && !expr::is_reduction(node.op));
  }
  return work;
}

}  // namespace tilejit::figures
