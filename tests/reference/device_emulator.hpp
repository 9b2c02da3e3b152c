#pragma once

#include <cmath>
#include <cstdint>

#include "arithmetic/cast.hpp"
#include "arithmetic/convert.hpp"
#include "arithmetic/format.hpp"
#include "arithmetic/operations.hpp"
#include "expr/real_function.hpp"
#include "reference/cast.hpp"
#include "reference/problem.hpp"

namespace tilejit::reference {

/// Computes a program over contiguous tensors like a device: floating values in float (f64 in
/// double), each operation rounded, composed functions with the device library's formulas.
/// Independent of the reference for all floating arithmetic; integers and the rounding to narrow
/// types are shared.
class DeviceEmulator {
 public:
  explicit DeviceEmulator(const Problem& problem)
      : problem_(problem),
        floats_(problem.program.nodes.size()),
        integers_(problem.program.nodes.size()) {}

  /// Computes element `index` and writes it to the outputs `out`.
  void run(std::int64_t index, const std::vector<void*>& out) {
    const auto& [nodes, stores] = problem_.program;
    for (std::size_t i = 0; i < nodes.size(); ++i) compute(nodes[i], i, index);
    for (const expr::Store& store : stores) {
      const TensorView& tensor = problem_.tensors[store.tensor];
      auto* element = address(tensor, out[store.tensor], index);
      if (is_floating(tensor.dtype)) {
        encode(tensor.dtype, floats_[store.value], element);
      } else {
        store_integer(tensor.dtype, integers_[store.value], element);
      }
    }
  }

 private:
  template <typename T>
  static T mod(T a, T b) {
    const T r = std::fmod(a, b);
    if (r == 0) return std::copysign(T(0), b);
    return (r < 0) != (b < 0) ? r + b : r;
  }
  template <typename T>
  static T floor_div(T a, T b) {
    if (b == 0) return a / b;
    const T r = std::fmod(a, b);
    T q = (a - r) / b;
    if (r != 0 && (r < 0) != (b < 0)) q -= 1;
    if (q == 0) return std::copysign(T(0), a / b);
    const T whole = std::floor(q);
    return q - whole > T(0.5) ? whole + 1 : whole;
  }

  template <typename T>
  static T apply_as(expr::Op op, T a, T b, T c) {
    using expr::Op;
    switch (op) {
      case Op::neg: return -a;
      case Op::add: return a + b;
      case Op::sub: return a - b;
      case Op::mul: return a * b;
      case Op::div: return a / b;
      case Op::floor_div: return floor_div(a, b);
      case Op::mod: return mod(a, b);
      case Op::pow: return std::pow(a, b);
      case Op::min: return std::fmin(a, b);
      case Op::max: return std::fmax(a, b);
      case Op::abs: return std::fabs(a);
      case Op::exp: return std::exp(a);
      case Op::exp2: return std::exp2(a);
      case Op::log: return std::log(a);
      case Op::log2: return std::log2(a);
      case Op::sqrt: return std::sqrt(a);
      case Op::rsqrt: return 1 / std::sqrt(a);
      case Op::sin: return std::sin(a);
      case Op::cos: return std::cos(a);
      case Op::tan: return std::tan(a);
      case Op::tanh: return std::tanh(a);
      case Op::erf: return std::erf(a);
      case Op::asin: return std::asin(a);
      case Op::acos: return std::acos(a);
      case Op::atan: return std::atan(a);
      case Op::sinh: return std::sinh(a);
      case Op::cosh: return std::cosh(a);
      case Op::log10: return std::log10(a);
      case Op::log1p: return std::log1p(a);
      case Op::expm1: return std::expm1(a);
      case Op::cbrt: return std::cbrt(a);
      case Op::erfc: return std::erfc(a);
      case Op::trunc: return std::trunc(a);
      case Op::atan2: return std::atan2(a, b);
      case Op::copysign: return std::copysign(a, b);
      case Op::hypot: return std::hypot(a, b);
      case Op::fma: return std::fma(a, b, c);
      case Op::floor: return std::floor(a);
      case Op::ceil: return std::ceil(a);
      case Op::round: return std::nearbyint(a);
      case Op::sigmoid: return 1 / (1 + std::exp(-a));
      case Op::silu: return a / (1 + std::exp(-a));
      case Op::gelu: return T(0.5) * a * (1 + std::erf(a * T(0.70710678118654752440)));
      case Op::gelu_tanh:
        return T(0.5) * a *
               (1 + std::tanh(T(0.79788456080286535588) * (a + T(0.044715) * a * a * a)));
      case Op::relu: return a < 0 ? 0 : a;
      case Op::clamp: return c < (a < b ? b : a) ? c : (a < b ? b : a);
      default: return T(kNan);
    }
  }

  void compute(const expr::Node& node, std::size_t id, std::int64_t index) {
    using expr::Op;
    const auto [a, b, c] = node.args;
    if (node.op == Op::load) {
      const TensorView& tensor = problem_.tensors[node.source];
      const void* element = address(tensor, tensor.data, index);
      if (is_floating(node.type)) {
        floats_[id] = decode(tensor.dtype, element);
      } else {
        integers_[id] = load_integer(tensor.dtype, element);
      }
    } else if (node.op == Op::cast) {
      cast(node, id);
    } else if (node.op == Op::where) {
      const expr::NodeId chosen = integers_[a] != 0 ? b : c;
      floats_[id] = floats_[chosen];
      integers_[id] = integers_[chosen];
    } else if (is_comparison(node.op)) {
      const DType type = problem_.program.nodes[a].type;
      integers_[id] = is_floating(type) ? expr::compare(node.op, floats_[a], floats_[b])
                                        : compare(node.op, type, integers_[a], integers_[b]);
    } else if (is_floating(node.type)) {
      floats_[id] = real(node);
    } else {
      integers_[id] = integer(node);
    }
  }

  double real(const expr::Node& node) const {
    const auto arg = [&](int k) { return node.args[k] < 0 ? 0.0 : floats_[node.args[k]]; };
    double value = 0;
    if (node.op == expr::Op::constant) {
      value = std::get<double>(node.constant);
    } else if (node.op == expr::Op::scalar) {
      value = problem_.scalars[node.source].to<double>();
    } else if (node.type == f64) {
      value = apply_as<double>(node.op, arg(0), arg(1), arg(2));
    } else {
      value = apply_as<float>(node.op, arg(0), arg(1), arg(2));
    }
    return node.type == f64 ? value : static_cast<double>(static_cast<float>(value));
  }

  std::int64_t integer(const expr::Node& node) const {
    const auto arg = [&](int k) { return node.args[k] < 0 ? 0 : integers_[node.args[k]]; };
    if (node.op == expr::Op::constant) return std::get<std::int64_t>(node.constant);
    if (node.op == expr::Op::scalar) return problem_.scalars[node.source].bits();
    return apply(node.op, node.type, {arg(0), arg(1), arg(2)});
  }

  void cast(const expr::Node& node, std::size_t id) {
    const expr::NodeId arg = node.args[0];
    const DType from = problem_.program.nodes[arg].type;
    if (is_floating(node.type)) {
      floats_[id] = is_floating(from) ? round_to(node.type, floats_[arg])
                                      : cast_integer(from, node.type, integers_[arg]);
    } else {
      integers_[id] = is_floating(from) ? real_to_integer(floats_[arg], node.type)
                                        : integer_to_integer(integers_[arg], node.type);
    }
  }

  static std::byte* address(const TensorView& tensor, void* data, std::int64_t index) {
    return static_cast<std::byte*>(data) + index * size_bytes(tensor.dtype);
  }

  const Problem& problem_;
  std::vector<double> floats_;  // each holds a float unless its node is f64
  std::vector<std::int64_t> integers_;
};

}  // namespace tilejit::reference
