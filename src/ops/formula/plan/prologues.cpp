#include "plan/prologues.hpp"

#include <algorithm>
#include <optional>

#include "formula/product.hpp"

namespace tilejit::plan {
namespace {

using expr::Node;
using expr::NodeId;
using formula::Step;

constexpr std::int64_t kFewRows = 64;             // a tile
constexpr double kFewProducts = double{1 << 24};  // whose time is that of a launch

/// Whether each element of the operand is computed a few times, or all of them take no time.
bool is_cheap(const Step& step, int operand) {
  const formula::Product product = formula::product_of(step.op, step.analysis);
  const Dim& others = operand == 0 ? product.n : product.m;
  if (others.is_known() && others.value() <= kFewRows) return true;
  double products = 1;
  for (const Dim& extent : step.analysis.shape) {
    if (!extent.is_known()) return false;
    products *= static_cast<double>(extent.value());
  }
  return product.k.is_known() && products * static_cast<double>(product.k.value()) <= kFewProducts;
}

bool is_elementwise(const Node& node) {
  switch (node.op) {
    case expr::Op::matmul:
    case expr::Op::index:
    case expr::Op::extent: return false;
    default: return !expr::combines_elements(node.op);
  }
}

class Prologues {
 public:
  Prologues(const Fused& op, const formula::Analysis& analysis, const std::vector<bool>& fixed)
      : op_(op), analysis_(analysis), fixed_(fixed), steps_(analysis.steps) {}

  std::vector<std::optional<Step>> run() {
    std::vector<bool> left_out(steps_.size(), false);
    for (std::size_t s = 0; s < steps_.size(); ++s) left_out[s] = fuse(s);
    std::vector<std::optional<Step>> kept(steps_.size());
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      if (!left_out[s]) kept[s] = std::move(steps_[s]);
    }
    return kept;
  }

 private:
  /// Whether step `s` became a part of the product that reads its result.
  bool fuse(std::size_t s) {
    if (fixed_[s]) return false;
    const std::optional<std::size_t> input = only_input(steps_[s]);
    if (!input) return false;
    const auto result = static_cast<std::size_t>(steps_[s].analysis.program.stores[0].tensor);
    const int number = steps_[s].tensors[result];
    if (number < static_cast<int>(op_.tensors.size()) || readers_of(number) != 1) return false;
    for (std::size_t u = s + 1; u < steps_.size(); ++u) {
      Step& user = steps_[u];
      const auto at = std::ranges::find(user.tensors, number);
      if (at == user.tensors.end()) continue;
      const auto operand = static_cast<int>(at - user.tensors.begin());
      const bool reads_it = formula::has_product(user.analysis.program) && operand < 2 &&
                            user.op.tensors[static_cast<std::size_t>(operand)].layout ==
                                steps_[s].op.tensors[result].layout;
      if (fixed_[u] || !reads_it || !is_cheap(user, operand)) return false;
      join(steps_[s], *input, user, operand);
      return true;
    }
    return false;
  }

  /// How many steps have that tensor among their inputs, counting one twice that reads it twice.
  [[nodiscard]] std::ptrdiff_t readers_of(int number) const {
    std::ptrdiff_t count = 0;
    for (const Step& step : steps_) {
      for (std::size_t t = 0; t < step.tensors.size(); ++t)
        count += step.tensors[t] == number && step.analysis.access[t] != Access::out;
    }
    return count;
  }

  /// The one tensor of which the step's one result is an elementwise function: of all of it, place
  /// by place, and never written.
  [[nodiscard]] std::optional<std::size_t> only_input(const Step& step) const {
    const expr::Program& program = step.analysis.program;
    if (program.stores.size() != 1 || step.tensors.size() != 2) return std::nullopt;
    if (!std::ranges::all_of(program.nodes, is_elementwise)) return std::nullopt;
    const std::size_t input = program.stores[0].tensor == 0 ? 1 : 0;
    const int number = step.tensors[input];
    if (step.analysis.access[input] != Access::in) return std::nullopt;
    if (number < static_cast<int>(op_.tensors.size()) &&
        analysis_.access[static_cast<std::size_t>(number)] != Access::in)
      return std::nullopt;
    const Layout& layout = step.op.tensors[input].layout;
    if (rank(layout) != step.analysis.shape.size()) return std::nullopt;
    for (std::size_t i = 0; i < rank(layout); ++i) {
      if (product(mode(layout.shape(), i)) != step.analysis.shape[i]) return std::nullopt;
    }
    return input;
  }

  static void join(const Step& step, std::size_t input, Step& user, int operand) {
    const auto at = static_cast<std::size_t>(operand);
    user.op.tensors[at] = step.op.tensors[input];
    user.tensors[at] = step.tensors[input];
    user.analysis.symbols.insert(step.analysis.symbols.begin(), step.analysis.symbols.end());
    user.analysis.program = joined(step.analysis.program, user.analysis.program, operand);
  }

  /// `program` with `made` in the place of the load of `operand`.
  static expr::Program joined(const expr::Program& made, const expr::Program& program,
                              int operand) {
    expr::Program whole = program;
    whole.nodes = made.nodes;
    for (Node& node : whole.nodes) {
      if (node.op == expr::Op::load) node.source = operand;
    }
    std::vector<NodeId> numbers;  // of the program's nodes in the whole
    for (Node node : program.nodes) {
      if (node.op == expr::Op::load && node.source == operand) {
        numbers.push_back(made.stores[0].value);
        continue;
      }
      for (NodeId& arg : node.args) {
        if (arg != expr::kNoNode) arg = numbers[static_cast<std::size_t>(arg)];
      }
      numbers.push_back(static_cast<NodeId>(whole.nodes.size()));
      whole.nodes.push_back(node);
    }
    for (expr::Store& store : whole.stores)
      store.value = numbers[static_cast<std::size_t>(store.value)];
    return whole;
  }

  const Fused& op_;
  const formula::Analysis& analysis_;
  const std::vector<bool>& fixed_;
  std::vector<Step> steps_;
};

}  // namespace

std::vector<formula::Step> with_prologues(const Fused& op, const formula::Analysis& analysis) {
  std::vector<formula::Step> steps;
  for (std::optional<Step>& step :
       with_prologues(op, analysis, std::vector<bool>(analysis.steps.size()))) {
    if (step) steps.push_back(*std::move(step));
  }
  return steps;
}

std::vector<std::optional<Step>> with_prologues(const Fused& op, const formula::Analysis& analysis,
                                                const std::vector<bool>& fixed) {
  return Prologues(op, analysis, fixed).run();
}

}  // namespace tilejit::plan
