#include <algorithm>

#include "expr/program.hpp"

namespace tilejit::expr {

// Of the ratio of NVRTC's times for long sums of one function (an addition: 1). Sine, cosine and
// tangent carry the reduction of large arguments, pow carries log and exp in double width.
int weight(const Node& node) noexcept {
  const int wide = node.type == f64 ? 2 : 1;
  switch (node.op) {
    case Op::sin:
    case Op::cos:
    case Op::tan:
    case Op::pow: return 64 * wide;
    case Op::div:
    case Op::floor_div:
    case Op::mod:
    case Op::exp:
    case Op::exp2:
    case Op::log:
    case Op::log2:
    case Op::sqrt:
    case Op::rsqrt:
    case Op::tanh:
    case Op::erf:
    case Op::asin:
    case Op::acos:
    case Op::atan:
    case Op::sinh:
    case Op::cosh:
    case Op::log10:
    case Op::log1p:
    case Op::expm1:
    case Op::cbrt:
    case Op::erfc:
    case Op::atan2:
    case Op::hypot:
    case Op::sigmoid:
    case Op::silu:
    case Op::gelu:
    case Op::gelu_tanh: return 8 * wide;
    case Op::reduce_sum:
    case Op::reduce_prod:
    case Op::reduce_min:
    case Op::reduce_max:
    case Op::reduce_any:
    case Op::reduce_all:
    case Op::reduce_argmin:
    case Op::reduce_argmax:
    case Op::scan_sum:
    case Op::scan_prod:
    case Op::scan_min:
    case Op::scan_max: return 8;
    default: return 1;
  }
}

std::int64_t weight(const Program& program) noexcept {
  std::int64_t sum = 0;
  for (const Node& node : program.nodes) sum += weight(node);
  return sum;
}

}  // namespace tilejit::expr
