#include "plan/pairs.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "formula/product.hpp"
#include "matmul/product_plan.hpp"

namespace tilejit::plan {
namespace {

using expr::Node;
using expr::NodeId;
using formula::Step;

std::size_t index_of(int number) {
  return static_cast<std::size_t>(number);
}

/// Whether an operand of both steps is the same memory, read in the same way.
bool is_shared(const Step& one, const Step& other, std::size_t operand) {
  const Tensor &a = one.op.tensors[operand], &b = other.op.tensors[operand];
  return one.tensors[operand] == other.tensors[operand] && a.layout == b.layout &&
         a.dtype == b.dtype;
}

bool loads_both(const formula::Product& product) {
  return product.a.value == expr::kNoNode && product.b.value == expr::kNoNode;
}

class Pairs {
 public:
  Pairs(const Fused& op, const Target& target, std::vector<Step> steps)
      : op_(op), target_(target), steps_(std::move(steps)) {}

  std::vector<Step> run() {
    std::vector<bool> left_out(steps_.size(), false);
    for (std::size_t s = 0; s < steps_.size(); ++s) left_out[s] = join(s);
    std::vector<Step> kept;
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      if (!left_out[s]) kept.push_back(std::move(steps_[s]));
    }
    return kept;
  }

 private:
  /// Whether step `s`, a product, became a part of the one that reads it.
  bool join(std::size_t s) {
    const Step& step = steps_[s];
    if (!is_bare(step)) return false;
    const int number = step.tensors[index_of(step.analysis.program.stores[0].tensor)];
    if (number < static_cast<int>(op_.tensors.size())) return false;  // an output
    std::optional<std::size_t> user;
    for (std::size_t u = 0; u < steps_.size(); ++u) {
      if (u == s || std::ranges::count(steps_[u].tensors, number) == 0) continue;
      if (user) return false;
      user = u;
    }
    if (!user || *user < s || is_replaced(s, *user)) return false;
    const std::optional<Step> pair = paired(step, steps_[*user], number);
    if (!pair) return false;
    Fused op = pair->op;
    if (steps_.size() == 2) op.tuning = op_.tuning;
    if (!pays_as_pair(op, pair->analysis, target_)) return false;
    steps_[*user] = *pair;
    return true;
  }

  /// Whether an operand of step `s` is written before step `user` has ended.
  [[nodiscard]] bool is_replaced(std::size_t s, std::size_t user) const {
    for (std::size_t u = s + 1; u <= user; ++u) {
      for (std::size_t t = 0; t < steps_[u].tensors.size(); ++t) {
        if (steps_[u].analysis.access[t] == Access::in) continue;
        const int number = steps_[u].tensors[t];
        if (number == steps_[s].tensors[0] || number == steps_[s].tensors[1]) return true;
      }
    }
    return false;
  }

  /// A product of two tensors, and nothing else.
  [[nodiscard]] static bool is_bare(const Step& step) {
    const expr::Program& program = step.analysis.program;
    return formula::has_product(program) && program.stores.size() == 1 &&
           program.nodes[index_of(program.stores[0].value)].op == expr::Op::matmul &&
           step.tensors.size() == 3 && loads_both(formula::product_of(step.op, step.analysis));
  }

  /// `user` with the product `step` instead of the result `number`, if they are a pair.
  [[nodiscard]] static std::optional<Step> paired(const Step& step, const Step& user, int number) {
    if (!formula::has_product(user.analysis.program)) return std::nullopt;
    const formula::Product one = formula::product_of(user.op, user.analysis),
                           other = formula::product_of(step.op, step.analysis);
    if (one.second || !loads_both(one)) return std::nullopt;
    const bool left = !is_shared(step, user, 0);  // what they do not share
    if (left && !is_shared(step, user, 1)) return std::nullopt;
    const std::size_t own = left ? 0 : 1;
    const Tensor &a = step.op.tensors[own], &b = user.op.tensors[own];
    if (a.dtype != b.dtype || one.accumulator != other.accumulator) return std::nullopt;
    if (step.analysis.shape != user.analysis.shape) return std::nullopt;
    const auto read = std::ranges::find(user.tensors, number);
    const auto at = static_cast<int>(read - user.tensors.begin());
    if (at < 2 || std::ranges::count(user.tensors, number) != 1) return std::nullopt;
    Step pair = user;
    pair.op.tensors[index_of(at)] = a;
    pair.tensors[index_of(at)] = step.tensors[own];
    pair.analysis.axes[index_of(at)].clear();
    pair.analysis.symbols.insert(step.analysis.symbols.begin(), step.analysis.symbols.end());
    pair.analysis.program = joined(user.analysis.program, at, left);
    return pair;
  }

  /// `program` with a product of tensor `at`, as its left or right operand, instead of the load of
  /// `at`. The products come first, its own one before that.
  static expr::Program joined(const expr::Program& program, int at, bool left) {
    const auto found = std::ranges::find(program.nodes, expr::Op::matmul, &Node::op);
    expr::Program whole = program;
    whole.nodes = {program.nodes[index_of(found->args[0])], program.nodes[index_of(found->args[1])],
                   *found, program.nodes[index_of(found->args[left ? 0 : 1])], *found};
    constexpr NodeId kOwn = 2, kLoad = 3, kOther = 4;
    whole.nodes[kOwn].args = {0, 1, expr::kNoNode};
    whole.nodes[kLoad].source = at;
    whole.nodes[kOther].args = {left ? kLoad : 0, left ? 1 : kLoad, expr::kNoNode};
    std::vector<NodeId> numbers;  // of the program's nodes in the whole
    for (Node node : program.nodes) {
      if (node.op == expr::Op::load && (node.source < 2 || node.source == at)) {
        numbers.push_back(node.source < 2 ? node.source : kOther);
        continue;
      }
      if (node.op == expr::Op::matmul) {
        numbers.push_back(kOwn);
        continue;
      }
      for (NodeId& arg : node.args) {
        if (arg != expr::kNoNode) arg = numbers[index_of(arg)];
      }
      numbers.push_back(static_cast<NodeId>(whole.nodes.size()));
      whole.nodes.push_back(node);
    }
    for (expr::Store& store : whole.stores) store.value = numbers[index_of(store.value)];
    return whole;
  }

  const Fused& op_;
  const Target& target_;
  std::vector<Step> steps_;
};

}  // namespace

std::vector<formula::Step> with_pairs(const Fused& op, const Target& target,
                                      std::vector<formula::Step> steps) {
  return Pairs(op, target, std::move(steps)).run();
}

}  // namespace tilejit::plan
