#include "formula/attention.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "formula/joined_steps.hpp"
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
    for (std::size_t t = 0; t < step.op.tensors.size(); ++t) {
      const Layout& layout = step.op.tensors[t].layout;
      const std::vector<int>& axes = step.analysis.axes[t];
      const bool reaches = !axes.empty() && axes.back() + 1 == static_cast<int>(rank_);
      along_keys_.push_back(reaches && !product(mode(layout.shape(), axes.size() - 1)).is(1));
    }
    for (const Node& node : program_.nodes) {
      bool made = node.op == Op::load && node.source == products_;
      for (const NodeId arg : node.args) made = made || (arg != kNoNode && of_product_[index(arg)]);
      of_product_.push_back(made);
    }
  }

  /// Why not, or empty.
  [[nodiscard]] std::string read(Attention& attention) const {
    NodeId weight = kNoNode;
    for (const expr::Store& store : program_.stores) {
      if (store.tensor == attention.result) weight = store.value;
    }
    weight = before_rounding(weight);
    const auto [term, divisor] = quotient(at(weight));
    const NodeId sum = term == kNoNode ? kNoNode : sum_of(term);
    if (sum == kNoNode || (at(term).op != Op::exp && at(term).op != Op::exp2))
      return "the weights are not exponentials divided by their sum";
    if (at(sum).axes != std::uint32_t{1} << (rank_ - 1))
      return "the sum of the exponentials is not over the keys";
    if (at(term).type == f64) return "the weights are of f64";
    attention.base_two = at(term).op == Op::exp2;
    const NodeId maximum = expr::rescaled_sums(program_)[index(sum)].maximum;
    NodeId score = at(term).args[0];
    if (maximum != kNoNode) score = at(score).args[0];
    if (combines(score)) return "a score depends on several keys";
    attention.weight = weight;
    attention.term = term;
    attention.sum = sum;
    attention.divisor = divisor;
    attention.exponent = attention.score = score;
    if (!is_of_row(divisor, attention))
      return "the weights are not exponentials divided by their sum";
    for (const expr::Store& store : program_.stores) {
      if (store.tensor != attention.result && !is_of_row(store.value, attention))
        return "the weights' step has an output that is not of the sums of rows";
    }
    const bool is_plain = divisor == sum && program_.stores.size() == 1;
    if (!is_plain && maximum == kNoNode) return "sums without a maximum have other uses";
    take_masks(attention);
    take_scale(attention);
    return {};
  }

 private:
  [[nodiscard]] static std::size_t index(NodeId id) { return static_cast<std::size_t>(id); }
  [[nodiscard]] const Node& at(NodeId id) const { return program_.nodes[index(id)]; }

  /// The value whose rounding to its own type that is: through f32 at most.
  [[nodiscard]] NodeId before_rounding(NodeId id) const {
    const DType type = at(id).type;
    while (at(id).op == Op::cast && (at(id).type == type || at(id).type == f32))
      id = at(id).args[0];
    return id;
  }

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

  /// The sum of those terms; kNoNode if there is none.
  [[nodiscard]] NodeId sum_of(NodeId term) const {
    for (std::size_t i = 0; i < program_.nodes.size(); ++i) {
      const Node& node = program_.nodes[i];
      if (node.op == Op::reduce_sum && node.args[0] == term) return static_cast<NodeId>(i);
    }
    return kNoNode;
  }

  /// Whether the value is the same for all keys, and made of the sum, the maximum of exponents, and
  /// what has no reductions.
  [[nodiscard]] bool is_of_row(NodeId root, const Attention& attention) const {
    std::vector<NodeId> open = {root};
    std::vector<bool> seen(program_.nodes.size());
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      if (id == kNoNode || id == attention.sum || seen[index(id)]) continue;
      seen[index(id)] = true;
      const Node& node = at(id);
      const bool is_maximum = node.op == Op::reduce_max && node.args[0] == attention.exponent;
      if (is_maximum) continue;
      if (expr::combines_elements(node.op)) return false;
      if (node.op == Op::index && expr::has_axis(node.axes, rank_ - 1)) return false;
      if (node.op == Op::load && along_keys_[static_cast<std::size_t>(node.source)]) return false;
      open.insert(open.end(), node.args.begin(), node.args.end());
    }
    return true;
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

  /// Values of 16 bits are computed as f32, too.
  void take_scale(Attention& attention) const {
    const Node& last = at(attention.score);
    const bool is_float = last.type == f32 || last.type == f16 || last.type == bf16;
    if (!is_float || (last.op != Op::mul && last.op != Op::div)) return;
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
  std::vector<bool> along_keys_;  // per tensor
  std::vector<bool> of_product_;  // per node: depends on a sum of q @ k
};

/// The only step that writes `number`, and which step reads it besides `reader`. Nothing if there
/// are several.
struct Maker {
  std::size_t step;
  std::optional<std::size_t> other_reader;
};
std::optional<Maker> maker_of(const Analysis& analysis, int number, std::size_t reader) {
  std::optional<std::size_t> maker, other;
  for (std::size_t s = 0; s < analysis.steps.size(); ++s) {
    const Step& step = analysis.steps[s];
    for (std::size_t t = 0; t < step.tensors.size(); ++t) {
      if (step.tensors[t] != number) continue;
      if (step.analysis.access[t] == Access::in) {
        if (s == reader || s == other) continue;
        if (other) return std::nullopt;
        other = s;
      } else if (maker) {
        return std::nullopt;
      } else {
        maker = s;
      }
    }
  }
  if (!maker) return std::nullopt;
  return Maker{*maker, other};
}

/// Whether no step before `last` reads what `step` writes.
bool is_read_only_after(const Analysis& analysis, std::size_t step, std::size_t last) {
  for (std::size_t s = 0; s <= last; ++s) {
    for (std::size_t t = 0; t < analysis.steps[step].tensors.size(); ++t) {
      if (s != step && analysis.steps[step].analysis.access[t] != Access::in &&
          std::ranges::count(analysis.steps[s].tensors, analysis.steps[step].tensors[t]) != 0)
        return false;
    }
  }
  return true;
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
  if (!weights || weights->other_reader || last.tensors[0] < tensors) return {};
  const Step& middle = analysis.steps[weights->step];
  if (has_product(middle.analysis.program) || !has_reductions(middle.analysis.program)) return {};
  for (std::size_t t = 0; t < middle.tensors.size(); ++t) {
    const int number = middle.tensors[t];
    if (number < tensors || middle.analysis.access[t] != Access::in) continue;
    const auto scores = maker_of(analysis, number, weights->step);
    if (!scores || !is_raw_product(analysis.steps[scores->step])) continue;
    std::optional<Step> step = middle;
    if (const auto rows = scores->other_reader) {
      const Step& other = analysis.steps[*rows];
      const bool fits =
          !has_product(other.analysis.program) && is_read_only_after(analysis, *rows, values);
      step = fits ? joined(middle, other) : std::nullopt;
      if (!step) continue;
    }
    const auto result = std::ranges::find(middle.tensors, last.tensors[0]);
    Attention attention{.scores = scores->step,
                        .weights = weights->step,
                        .values = values,
                        .rows = scores->other_reader,
                        .products = static_cast<int>(t),
                        .result = static_cast<int>(result - middle.tensors.begin())};
    const auto& shape = analysis.steps[scores->step].analysis.shape;
    const auto& space = last.analysis.shape;
    const bool alike = shape == middle.analysis.shape && shape.size() == space.size() &&
                       std::equal(shape.begin(), shape.end() - 1, space.begin());
    if (!alike) return {.why_not = "scores, weights and outputs have not the same batches"};
    std::string why = Reader(*step, attention.products).read(attention);
    if (!why.empty()) return {.why_not = std::move(why)};
    return {.found = std::move(attention), .weights = *std::move(step)};
  }
  return {.why_not = "the weights are not made of one product that nothing else reads"};
}

}  // namespace tilejit::formula
