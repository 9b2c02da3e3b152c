#include "expr/least.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>

#include "expr/traits.hpp"

namespace tilejit::expr {
namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();
constexpr double kLeastOfNarrow = 0x1p-6;  // a normal number of every type below 4 bytes

double value_of(const Node& node) {
  return std::visit([](auto constant) { return static_cast<double>(constant); }, node.constant);
}

class Bounds {
 public:
  explicit Bounds(const Program& program) : program_(program) {
    for (const Node& node : program.nodes)
      least_.push_back(is_floating(node.type) ? of(node) : kNone);
  }

  std::vector<double> take() && { return std::move(least_); }

 private:
  [[nodiscard]] const Node& argument(const Node& node, std::size_t i) const {
    return program_.nodes[static_cast<std::size_t>(node.args[i])];
  }
  [[nodiscard]] double least(const Node& node, std::size_t i) const {
    return least_[static_cast<std::size_t>(node.args[i])];
  }
  [[nodiscard]] bool is_constant(const Node& node, std::size_t i) const {
    return argument(node, i).op == Op::constant;
  }

  /// Rounding keeps the order of values, and what is asked for, 0 and powers of two, are values of
  /// f32 and f64.
  [[nodiscard]] double of(const Node& node) const {
    switch (node.op) {
      case Op::constant: return value_of(node);
      case Op::abs:
      case Op::exp:
      case Op::exp2:
      case Op::sqrt:
      case Op::rsqrt:
      case Op::sigmoid: return 0;
      case Op::add: return least(node, 0) + least(node, 1);
      case Op::mul: return node.args[0] == node.args[1] ? 0 : kNone;
      case Op::min: return std::min(least(node, 0), least(node, 1));
      case Op::max: return of_maximum(node);
      case Op::where: return std::min(least(node, 1), least(node, 2));
      case Op::cast: return of_cast(node);
      case Op::reduce_sum: return least(node, 0) >= 0 ? 0 : kNone;
      default: return kNone;
    }
  }

  /// Narrow types round to powers of two, and small values to 0.
  [[nodiscard]] double of_cast(const Node& node) const {
    const DType from = argument(node, 0).type;
    if (!is_floating(from)) return kNone;
    const double bound = least(node, 0);
    if (std::min(size_bytes(from), size_bytes(node.type)) >= 4) return bound;
    if (bound >= kLeastOfNarrow) return std::exp2(std::floor(std::log2(bound)));
    return bound >= 0 ? 0 : kNone;
  }

  /// A nan is ignored, so that only the other operand's bound holds.
  [[nodiscard]] double of_maximum(const Node& node) const {
    const double one = least(node, 0), other = least(node, 1);
    if (is_constant(node, 0)) return std::max(one, is_constant(node, 1) ? other : one);
    return is_constant(node, 1) ? other : std::min(one, other);
  }

  const Program& program_;
  std::vector<double> least_;
};

}  // namespace

std::vector<double> least_values(const Program& program) {
  return Bounds(program).take();
}

}  // namespace tilejit::expr
