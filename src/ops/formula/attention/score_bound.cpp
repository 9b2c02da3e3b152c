#include "attention/score_bound.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <variant>
#include <vector>

namespace tilejit::plan {
namespace {

using expr::Node;
using expr::NodeId;
using expr::Op;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Bound kNone = {-kInfinity, kInfinity};

/// The span of some values; of infinity - infinity and 0 * infinity nothing is known.
Bound span_of(const std::array<double, 4>& values) {
  if (std::ranges::any_of(values, [](double x) { return std::isnan(x); })) return kNone;
  return {std::ranges::min(values), std::ranges::max(values)};
}

class Bounds {
 public:
  explicit Bounds(const expr::Program& program) : program_(program) {}

  Bound run(NodeId id) {
    for (std::size_t i = 0; i <= static_cast<std::size_t>(id); ++i)
      bounds_.push_back(bound(program_.nodes[i]));
    return bounds_.back();
  }

 private:
  [[nodiscard]] Bound of(const Node& node, std::size_t arg) const {
    return bounds_[static_cast<std::size_t>(node.args[arg])];
  }

  [[nodiscard]] Bound bound(const Node& node) const {
    switch (node.op) {
      case Op::constant: {
        const double* const value = std::get_if<double>(&node.constant);
        return value == nullptr || std::isnan(*value) ? kNone : Bound{*value, *value};
      }
      case Op::tanh:
      case Op::erf:
      case Op::sin:
      case Op::cos: return {-1, 1};
      case Op::sigmoid: return {0, 1};
      case Op::cast: return node.type == f32 ? of(node, 0) : kNone;
      case Op::neg: return negative(of(node, 0));
      case Op::add: return sum(of(node, 0), of(node, 1));
      case Op::sub: return sum(of(node, 0), negative(of(node, 1)));
      case Op::mul: return product(of(node, 0), of(node, 1));
      case Op::where:
        return {std::min(of(node, 1).least, of(node, 2).least),
                std::max(of(node, 1).greatest, of(node, 2).greatest)};
      case Op::min: return lesser(of(node, 0), of(node, 1));
      case Op::max: return greater(of(node, 0), of(node, 1));
      case Op::clamp: return lesser(greater(of(node, 0), of(node, 1)), of(node, 2));
      default: return kNone;
    }
  }

  static Bound sum(Bound a, Bound b) {
    const double least = a.least + b.least, greatest = a.greatest + b.greatest;
    return span_of({least, least, greatest, greatest});
  }
  static Bound product(Bound a, Bound b) {
    return span_of(
        {a.least * b.least, a.least * b.greatest, a.greatest * b.least, a.greatest * b.greatest});
  }
  /// Of two values, of which one that is not a number is ignored. Constants are numbers.
  static Bound lesser(Bound a, Bound b) {
    double greatest = std::max(a.greatest, b.greatest);
    for (const Bound& one : {a, b}) {
      if (is_constant(one)) greatest = std::min(greatest, one.greatest);
    }
    return {std::min(a.least, b.least), greatest};
  }
  static Bound greater(Bound a, Bound b) {
    const Bound opposite = lesser(negative(a), negative(b));
    return negative(opposite);
  }
  static Bound negative(Bound a) { return {-a.greatest, -a.least}; }
  static bool is_constant(Bound a) { return a.least == a.greatest; }

  const expr::Program& program_;
  std::vector<Bound> bounds_;
};

}  // namespace

std::optional<Bound> bound_of(const expr::Program& program, NodeId id) {
  const Bound bound = Bounds(program).run(id);
  if (!std::isfinite(bound.least) || !std::isfinite(bound.greatest)) return std::nullopt;
  return bound;
}

}  // namespace tilejit::plan
