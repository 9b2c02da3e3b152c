#include "formula/attention.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "formula/product.hpp"

namespace tilejit::formula {
namespace {

using expr::kNoNode;
using expr::Node;
using expr::NodeId;
using expr::Op;

bool is_negative_infinity(const Node& node) {
  const double* const value =
      node.op == Op::constant ? std::get_if<double>(&node.constant) : nullptr;
  return value != nullptr && std::isinf(*value) && std::signbit(*value);
}

/// Takes the program of weights apart.
class Reader {
 public:
  Reader(const Step& step, int products)
      : program_(step.analysis.program),
        rank_(step.analysis.shape.size()),
        products_(products),
        uniform_(uniform_nodes(program_)) {
    for (const Node& node : program_.nodes) {
      bool made = node.op == Op::load && node.source == products_;
      for (const NodeId arg : node.args) made = made || (arg != kNoNode && of_product_[index(arg)]);
      of_product_.push_back(made);
    }
  }

  /// Why not, or empty.
  [[nodiscard]] std::string read(Attention& attention) const {
    if (program_.stores.size() != 1) return "the weights' step has other outputs";
    NodeId weight = program_.stores.front().value;
    while (at(weight).op == Op::cast) weight = at(weight).args[0];
    const auto [term, sum] = quotient(at(weight));
    if (term == kNoNode) return "the weights are not exponentials divided by their sum";
    const bool is_softmax = (at(term).op == Op::exp || at(term).op == Op::exp2) &&
                            at(sum).op == Op::reduce_sum && at(sum).args[0] == term;
    if (!is_softmax) return "the weights are not exponentials divided by their sum";
    if (at(sum).axes != std::uint32_t{1} << (rank_ - 1))
      return "the sum of the exponentials is not over the keys";
    if (at(term).type == f64) return "the weights are of f64";
    attention.base_two = at(term).op == Op::exp2;
    const NodeId maximum = expr::rescaled_sums(program_)[index(sum)].maximum;
    NodeId score = at(term).args[0];
    if (maximum != kNoNode) score = at(score).args[0];
    if (combines(score)) return "a score depends on several keys";
    attention.weight = weight;
    attention.sum = sum;
    attention.exponent = attention.score = score;
    take_masks(attention);
    take_scale(attention);
    return {};
  }

 private:
  [[nodiscard]] static std::size_t index(NodeId id) { return static_cast<std::size_t>(id); }
  [[nodiscard]] const Node& at(NodeId id) const { return program_.nodes[index(id)]; }

  /// x and y of x / y, of x * (1 / y) or of (1 / y) * x.
  [[nodiscard]] std::pair<NodeId, NodeId> quotient(const Node& node) const {
    if (node.op == Op::div) return {node.args[0], node.args[1]};
    if (node.op != Op::mul) return {kNoNode, kNoNode};
    for (const std::size_t side : {0, 1}) {
      const Node& inverse = at(node.args[side]);
      if (inverse.op == Op::div && is_one(at(inverse.args[0])))
        return {node.args[1 - side], inverse.args[1]};
    }
    return {kNoNode, kNoNode};
  }
  [[nodiscard]] static bool is_one(const Node& node) {
    const double* const value =
        node.op == Op::constant ? std::get_if<double>(&node.constant) : nullptr;
    return value != nullptr && *value == 1;
  }

  /// Whether the value is made of reductions or scans.
  [[nodiscard]] bool combines(NodeId root) const {
    std::vector<NodeId> open = {root};
    std::vector<bool> seen(program_.nodes.size());
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      if (id == kNoNode || seen[index(id)]) continue;
      seen[index(id)] = true;
      if (expr::combines_elements(at(id).op)) return true;
      open.insert(open.end(), at(id).args.begin(), at(id).args.end());
    }
    return false;
  }

  /// Of where(c, x, -inf), of where(c, -inf, x), and of such in x.
  void take_masks(Attention& attention) const {
    while (at(attention.score).op == Op::where) {
      const Node& choice = at(attention.score);
      const bool keeps = is_negative_infinity(at(choice.args[2]));
      if (!keeps && !is_negative_infinity(at(choice.args[1]))) return;
      if (of_product_[index(choice.args[0])]) return;
      attention.masks.push_back({choice.args[0], keeps});
      attention.score = choice.args[keeps ? 1 : 2];
    }
  }

  void take_scale(Attention& attention) const {
    const Node& last = at(attention.score);
    if (last.type != f32 || (last.op != Op::mul && last.op != Op::div)) return;
    if (uniform_[index(last.args[1])]) {
      attention.scale = last.args[1];
      attention.divides = last.op == Op::div;
      attention.score = last.args[0];
    } else if (last.op == Op::mul && uniform_[index(last.args[0])]) {
      attention.scale = last.args[0];
      attention.score = last.args[1];
    }
  }

  const expr::Program& program_;
  std::size_t rank_;
  int products_;
  std::vector<bool> uniform_;
  std::vector<bool> of_product_;  // per node: depends on a sum of q @ k
};

/// The only step that writes `number`, and that only `reader` reads; nothing if there is none.
std::optional<std::size_t> maker_of(const Analysis& analysis, int number, std::size_t reader) {
  std::optional<std::size_t> maker;
  for (std::size_t s = 0; s < analysis.steps.size(); ++s) {
    const Step& step = analysis.steps[s];
    for (std::size_t t = 0; t < step.tensors.size(); ++t) {
      if (step.tensors[t] != number) continue;
      if (step.analysis.access[t] == Access::in) {
        if (s != reader) return std::nullopt;
      } else if (maker) {
        return std::nullopt;
      } else {
        maker = s;
      }
    }
  }
  return maker;
}

/// Whether the step only leaves its sums in memory.
bool is_raw_product(const Step& step) {
  if (!has_product(step.analysis.program)) return false;
  const auto& stores = step.analysis.program.stores;
  const NodeId value = stores.front().value;
  return stores.size() == 1 &&
         step.analysis.program.nodes[static_cast<std::size_t>(value)].op == Op::matmul;
}

}  // namespace

std::vector<bool> uniform_nodes(const expr::Program& program) {
  std::vector<bool> uniform;
  for (const Node& node : program.nodes) {
    bool same = node.op != Op::load && node.op != Op::index && node.op != Op::matmul &&
                !expr::combines_elements(node.op);
    for (const NodeId arg : node.args)
      same = same && (arg == kNoNode || uniform[static_cast<std::size_t>(arg)]);
    uniform.push_back(same);
  }
  return uniform;
}

AttentionSearch find_attention(const Analysis& analysis, std::size_t values) {
  const Step& last = analysis.steps[values];
  if (!has_product(last.analysis.program)) return {};
  const auto weights = maker_of(analysis, last.tensors[0], values);
  const int tensors = static_cast<int>(analysis.access.size());
  if (!weights || last.tensors[0] < tensors) return {};
  const Step& middle = analysis.steps[*weights];
  if (has_product(middle.analysis.program) || !has_reductions(middle.analysis.program)) return {};
  for (std::size_t t = 0; t < middle.tensors.size(); ++t) {
    const int number = middle.tensors[t];
    if (number < tensors || middle.analysis.access[t] != Access::in) continue;
    const auto scores = maker_of(analysis, number, *weights);
    if (!scores || !is_raw_product(analysis.steps[*scores])) continue;
    Attention attention{
        .scores = *scores, .weights = *weights, .values = values, .products = static_cast<int>(t)};
    const auto& shape = analysis.steps[*scores].analysis.shape;
    const auto& space = last.analysis.shape;
    const bool alike = shape == middle.analysis.shape && shape.size() == space.size() &&
                       std::equal(shape.begin(), shape.end() - 1, space.begin());
    if (!alike) return {.why_not = "scores, weights and outputs have not the same batches"};
    std::string why = Reader(middle, attention.products).read(attention);
    if (!why.empty()) return {.why_not = std::move(why)};
    return {.found = std::move(attention)};
  }
  return {.why_not = "the weights are not made of one product that nothing else reads"};
}

}  // namespace tilejit::formula
