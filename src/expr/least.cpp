#include "expr/least.hpp"

#include <algorithm>
#include <limits>
#include <variant>

#include "expr/traits.hpp"

namespace tilejit::expr {
namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();

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

  /// Rounding keeps the order of values, and 0 and 1, which are all that is asked for, are values
  /// of every type.
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
      case Op::cast: return is_floating(argument(node, 0).type) ? least(node, 0) : kNone;
      case Op::reduce_sum: return least(node, 0) >= 0 ? 0 : kNone;
      default: return kNone;
    }
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
