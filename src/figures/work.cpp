#include "figures/work.hpp"

namespace tilejit::figures {
namespace {

struct Cost {
  int plain = 1, special = 0;
};

/// In single precision, after the PTX that NVRTC 13.0 makes of kernels_templates/tile/math.cuh for
/// sm_90a: moves left out, the usual path where it branches, divisions and square roots as ptxas
/// expands them. What is computed by approximations, for 16-bit results, takes less.
Cost cost_of(expr::Op op) noexcept {
  using expr::Op;
  switch (op) {
    case Op::constant:
    case Op::load:
    case Op::scalar:
    case Op::index:
    case Op::extent: return {0, 0};
    case Op::div: return {8, 1};
    case Op::floor_div: return {60, 3};
    case Op::mod: return {50, 2};
    case Op::pow: return {80, 1};
    case Op::exp: return {10, 1};
    case Op::exp2: return {3, 1};
    case Op::log:
    case Op::log2: return {25, 0};
    case Op::sqrt: return {8, 1};
    case Op::rsqrt: return {2, 1};
    case Op::sin:
    case Op::cos: return {40, 0};
    case Op::tan: return {50, 1};
    case Op::tanh: return {20, 2};
    case Op::erf: return {25, 1};
    case Op::sigmoid: return {20, 2};
    case Op::silu: return {24, 2};
    case Op::gelu: return {28, 1};
    case Op::gelu_tanh: return {26, 2};
    case Op::asin: return {26, 1};
    case Op::acos: return {29, 1};
    case Op::atan: return {20, 1};
    case Op::atan2: return {41, 1};
    case Op::sinh: return {25, 1};
    case Op::cosh: return {16, 1};
    case Op::log10: return {26, 0};
    case Op::log1p: return {25, 0};
    case Op::expm1: return {29, 1};
    case Op::cbrt: return {16, 2};
    case Op::erfc: return {51, 3};
    case Op::hypot: return {24, 1};
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
