#include "expr/greatest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>

#include "expr/traits.hpp"

namespace tilejit::expr {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kMostOfLog = 150;  // of f32; the logarithm to base 2 is the largest

/// Where a node's finite values lie.
struct Range {
  double low = -kInf, high = kInf;
};

double magnitude(const Range& range) {
  return std::max(std::abs(range.low), std::abs(range.high));
}

Range hull(const Range& a, const Range& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

/// What a tensor of this type has.
Range range_of(DType type) {
  switch (type) {
    case b8: return {0, 1};
    case i8: return {-0x1p7, 0x1p7 - 1};
    case u8: return {0, 0x1p8 - 1};
    case i16: return {-0x1p15, 0x1p15 - 1};
    case u16: return {0, 0x1p16 - 1};
    case f16: return {-65504, 65504};
    case f8e4m3: return {-448, 448};
    case f8e5m2: return {-57344, 57344};
    default: return {};
  }
}

class Ranges {
 public:
  explicit Ranges(const Program& program) : program_(program) {
    for (const Node& node : program.nodes)
      ranges_.push_back(is_floating(node.type) ? of(node) : range_of(node.type));
  }

  [[nodiscard]] std::vector<double> magnitudes() const {
    std::vector<double> all;
    for (const Range& range : ranges_) all.push_back(magnitude(range));
    return all;
  }

 private:
  [[nodiscard]] const Range& argument(const Node& node, std::size_t i) const {
    return ranges_[static_cast<std::size_t>(node.args[i])];
  }
  [[nodiscard]] bool is_constant(const Node& node, std::size_t i) const {
    return program_.nodes[static_cast<std::size_t>(node.args[i])].op == Op::constant;
  }

  [[nodiscard]] Range of(const Node& node) const {
    switch (node.op) {
      case Op::constant: return of_constant(node);
      case Op::load: return range_of(node.type);
      case Op::cast: return of_cast(node);
      case Op::where: return hull(argument(node, 1), argument(node, 2));
      case Op::clamp: return hull(argument(node, 1), argument(node, 2));
      case Op::reduce_min:
      case Op::reduce_max: return argument(node, 0);
      case Op::sin:
      case Op::cos:
      case Op::tanh:
      case Op::erf: return {-1, 1};
      case Op::sigmoid: return {0, 1};
      case Op::log:
      case Op::log2:
      case Op::log10:
      case Op::log1p: return node.type == f64 ? Range{} : Range{-kMostOfLog, kMostOfLog};
      default: return of_arithmetic(node);
    }
  }

  [[nodiscard]] Range of_arithmetic(const Node& node) const {
    if (node.args[0] == kNoNode) return {};
    const Range& a = argument(node, 0);
    switch (node.op) {
      case Op::neg: return {-a.high, -a.low};
      case Op::abs: return {std::max({a.low, -a.high, 0.0}), magnitude(a)};
      case Op::relu: return {std::max(a.low, 0.0), std::max(a.high, 0.0)};
      case Op::exp: return {0, std::exp(a.high)};
      case Op::exp2: return {0, std::exp2(a.high)};
      case Op::sqrt: return {0, std::sqrt(std::max(a.high, 0.0))};
      case Op::rsqrt: return {0, a.low > 0 ? 1 / std::sqrt(a.low) : kInf};
      case Op::add: return {a.low + argument(node, 1).low, a.high + argument(node, 1).high};
      case Op::sub: return {a.low - argument(node, 1).high, a.high - argument(node, 1).low};
      case Op::mul: return of_product(node);
      case Op::div: return of_quotient(a, argument(node, 1));
      case Op::min: return of_minimum(node);
      case Op::max: return of_maximum(node);
      default: return {};
    }
  }

  /// Infinity, as masks have it, says nothing about finite values.
  [[nodiscard]] static Range of_constant(const Node& node) {
    const double value =
        std::visit([](auto constant) { return static_cast<double>(constant); }, node.constant);
    return std::isfinite(value) ? Range{value, value} : Range{};
  }

  /// Narrow types round to powers of two at most.
  [[nodiscard]] Range of_cast(const Node& node) const {
    const Range& from = argument(node, 0);
    if (size_bytes(node.type) >= 4) return from;
    const double most = std::exp2(std::ceil(std::log2(magnitude(from))));
    return {from.low >= 0 ? 0 : -most, most};
  }

  [[nodiscard]] Range of_product(const Node& node) const {
    const Range &a = argument(node, 0), &b = argument(node, 1);
    const double most = magnitude(a) == 0 || magnitude(b) == 0 ? 0 : magnitude(a) * magnitude(b);
    const bool is_square = node.args[0] == node.args[1];
    return {is_square || (a.low >= 0 && b.low >= 0) ? 0 : -most, most};
  }

  [[nodiscard]] static Range of_quotient(const Range& a, const Range& b) {
    const double least = std::max({b.low, -b.high, 0.0});
    if (least == 0 || magnitude(a) == kInf) return {};
    return {-magnitude(a) / least, magnitude(a) / least};
  }

  /// Of infinity and another value, it may be the other one.
  [[nodiscard]] Range of_minimum(const Node& node) const {
    Range range = hull(argument(node, 0), argument(node, 1));
    for (const std::size_t i : {0, 1}) {
      if (is_constant(node, i)) range.high = argument(node, i).high;
    }
    return range;
  }
  [[nodiscard]] Range of_maximum(const Node& node) const {
    Range range = hull(argument(node, 0), argument(node, 1));
    for (const std::size_t i : {0, 1}) {
      if (is_constant(node, i)) range.low = argument(node, i).low;
    }
    return range;
  }

  const Program& program_;
  std::vector<Range> ranges_;
};

}  // namespace

std::vector<double> greatest_magnitudes(const Program& program) {
  return Ranges(program).magnitudes();
}

}  // namespace tilejit::expr
