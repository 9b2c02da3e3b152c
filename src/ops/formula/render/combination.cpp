#include "render/combination.hpp"

namespace tilejit::render {
namespace {

using expr::Node;
using expr::Op;

bool is_minimum(Op op) noexcept {
  return op == Op::reduce_min || op == Op::scan_min;
}
bool is_maximum(Op op) noexcept {
  return op == Op::reduce_max || op == Op::scan_max;
}

}  // namespace

bool is_extremum(Op op) noexcept {
  return is_minimum(op) || is_maximum(op);
}

std::string_view accumulator_type(const Node& node) {
  if (is_floating(node.type) || size_bytes(node.type) >= 4) return expr::compute_type(node.type);
  return category(node.type) == Category::signed_integer ? "i32" : "u32";
}

std::string identity(const Node& node) {
  const bool floating = is_floating(node.type);
  switch (node.op) {
    case Op::reduce_sum:
    case Op::reduce_any:
    case Op::scan_sum: return "0";
    case Op::reduce_prod:
    case Op::reduce_all:
    case Op::scan_prod: return "1";
    default: break;
  }
  if (floating) return nan_of(node);
  const bool is_signed = category(node.type) == Category::signed_integer;
  const int bits = 8 * size_bytes(node.type);
  const std::int64_t greatest =
      static_cast<std::int64_t>(~0ull >> (64 - bits + (is_signed ? 1 : 0)));
  const std::int64_t least = is_signed ? -greatest - 1 : 0;
  return expr::emit_constant(is_minimum(node.op) ? greatest : least, node.type);
}

std::string nan_of(const Node& node) {
  return node.type == f64 ? "math::nan_f64()" : "math::nan_f32()";
}

std::string infinity(const Node& node) {
  const char* text = node.type == f64 ? "math::inf_f64()" : "math::inf_f32()";
  return (is_maximum(node.op) ? "-" : "") + std::string(text);
}

}  // namespace tilejit::render
