// Finds the sums that can be computed together with the reduction that their terms are relative to.
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "expr/program.hpp"

namespace tilejit::expr {
namespace {

class Finder {
 public:
  explicit Finder(const Program& program) : nodes_(program.nodes) {}

  [[nodiscard]] JoinedSum find(const Node& node) const {
    if (node.op != Op::reduce_sum || !is_floating(node.type)) return {};
    const Node& term = at(node.args[0]);
    if (term.op != Op::exp && term.op != Op::exp2) return {};
    const Node& below = at(term.args[0]);
    if (below.op != Op::sub) return {};
    const NodeId guarded = guarded_maximum(at(below.args[1]));
    const NodeId maximum = guarded == kNoNode ? below.args[1] : guarded;
    const Node& found = at(maximum);
    const bool same =
        found.op == Op::reduce_max && found.axes == node.axes && found.args[0] == below.args[0];
    return same ? JoinedSum{.maximum = maximum, .guarded = guarded != kNoNode} : JoinedSum{};
  }

  /// A sum of x - mean(x), or of its squares.
  [[nodiscard]] JoinedSum find_about_mean(const Node& node) const {
    if (node.op != Op::reduce_sum || !is_floating(node.type)) return {};
    const Node& term = at(node.args[0]);
    const bool squares = term.op == Op::mul && term.args[0] == term.args[1];
    const Node& distance = squares ? at(term.args[0]) : term;
    if (distance.op != Op::sub) return {};
    const NodeId value = distance.args[0], mean = distance.args[1];
    if (at(mean).op != Op::div) return {};
    const NodeId total = at(mean).args[0];
    const Node &sum = at(total), &count = at(at(mean).args[1]);
    const bool same = sum.op == Op::reduce_sum && sum.axes == node.axes && sum.args[0] == value &&
                      sum.type == node.type && count.op == Op::extent && count.axes == node.axes;
    return same ? JoinedSum{.total = total, .mean = mean, .squares = squares} : JoinedSum{};
  }

 private:
  [[nodiscard]] const Node& at(NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }

  [[nodiscard]] const double* constant(NodeId id) const {
    const Node& node = at(id);
    return node.op == Op::constant ? std::get_if<double>(&node.constant) : nullptr;
  }
  [[nodiscard]] bool is_infinity(NodeId id, bool negative) const {
    const double* value = constant(id);
    return value != nullptr && std::isinf(*value) && std::signbit(*value) == negative;
  }
  [[nodiscard]] bool is_finite(NodeId id) const {
    const double* value = constant(id);
    return value != nullptr && std::isfinite(*value);
  }

  /// M, if `node` is where(M > -inf, M, 0) or similar, which is M if M is finite; otherwise
  /// kNoNode.
  [[nodiscard]] NodeId guarded_maximum(const Node& node) const {
    if (node.op != Op::where || !is_finite(node.args[2])) return kNoNode;
    const Node& condition = at(node.args[0]);
    const NodeId maximum = node.args[1], left = condition.args[0], right = condition.args[1];
    const bool above = (condition.op == Op::gt || condition.op == Op::ne) && left == maximum &&
                       is_infinity(right, true);
    const bool finite = condition.op == Op::lt && at(left).op == Op::abs &&
                        at(left).args[0] == maximum && is_infinity(right, false);
    return above || finite ? maximum : kNoNode;
  }

  const std::vector<Node>& nodes_;
};

}  // namespace

std::vector<JoinedSum> rescaled_sums(const Program& program) {
  const Finder finder(program);
  std::vector<JoinedSum> found;
  for (const Node& node : program.nodes) found.push_back(finder.find(node));
  return found;
}

std::vector<JoinedSum> joined_sums(const Program& program) {
  const Finder finder(program);
  std::vector<JoinedSum> found = rescaled_sums(program);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!found[i].joins()) found[i] = finder.find_about_mean(program.nodes[i]);
  }
  return found;
}

std::vector<int> passes_before(const Program& program, const std::vector<JoinedSum>& sums) {
  std::vector<int> passes;
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    const Node& node = program.nodes[i];
    int most = 0;
    for (const NodeId arg : node.args) {
      if (arg != kNoNode) most = std::max(most, passes[static_cast<std::size_t>(arg)]);
    }
    passes.push_back(most + (is_reduction(node.op) && !sums[i].joins() ? 1 : 0));
  }
  return passes;
}

}  // namespace tilejit::expr
