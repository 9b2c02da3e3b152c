#include "expr/centred_sums.hpp"

#include <cstddef>
#include <limits>
#include <vector>

#include "expr/graph.hpp"

namespace tilejit::expr {
namespace {

const Node& at(const Program& program, NodeId id) {
  return program.nodes[static_cast<std::size_t>(id)];
}

/// A sum of squares of distances to the mean, over the axes of the mean.
struct CentredSquares {
  NodeId squares = kNoNode;
  NodeId distance = kNoNode;
  NodeId value = kNoNode;
  NodeId mean = kNoNode;
  NodeId count = kNoNode;
};

std::optional<CentredSquares> match_squares(const Program& program, NodeId id) {
  const Node& sum = at(program, id);
  if (sum.op != Op::reduce_sum || !is_floating(sum.type)) return {};
  const Node& square = at(program, sum.args[0]);
  if (square.op != Op::mul || square.args[0] != square.args[1]) return {};
  const Node& distance = at(program, square.args[0]);
  if (distance.op != Op::sub) return {};
  const auto [value, center, unused] = distance.args;
  const Node& mean = at(program, center);
  if (mean.op != Op::div) return {};
  const Node& total = at(program, mean.args[0]);
  const Node& count = at(program, mean.args[1]);
  if (total.op != Op::reduce_sum || total.axes != sum.axes || total.args[0] != value) return {};
  if (count.op != Op::extent || count.axes != sum.axes) return {};
  return CentredSquares{id, square.args[0], value, center, mean.args[1]};
}

class Corrector {
 public:
  Corrector(const Program& program, const std::vector<CentredSquares>& found)
      : program_(program),
        of_mean_(program.nodes.size()),
        of_squares_(program.nodes.size()),
        renumbered_(program.nodes.size(), kNoNode) {
    for (const CentredSquares& one : found) {
      of_mean_[index(one.mean)] = &one;
      of_squares_[index(one.squares)] = &one;
    }
  }

  Program run() {
    for (std::size_t i = 0; i < program_.nodes.size(); ++i) {
      if (const CentredSquares* const one = of_mean_[i]) {
        renumbered_[i] = corrected_mean(*one, parts(*one));
      } else if (const CentredSquares* const about = of_squares_[i]) {
        renumbered_[i] = corrected_squares(*about, parts(*about));
      } else {
        renumbered_[i] = graph_.add(with_operands(program_.nodes[i]));
      }
    }
    std::vector<Store> stores = program_.stores;
    for (Store& store : stores) store.value = renumbered_[index(store.value)];
    return graph_.prune(stores);
  }

 private:
  /// The nodes of both corrections, in the graph.
  struct Parts {
    NodeId mean = kNoNode, sum = kNoNode, squares = kNoNode;  // as computed
    NodeId shift = kNoNode;                                   // correction of the mean: sum / n
    NodeId excess = kNoNode;  // correction of the squares: sum^2 / n
  };

  static std::size_t index(NodeId id) { return static_cast<std::size_t>(id); }

  Node with_operands(Node node) const {
    for (NodeId& arg : node.args) {
      if (arg != kNoNode) arg = renumbered_[index(arg)];
    }
    return node;
  }

  /// Creates the nodes once; both corrections share them.
  Parts parts(const CentredSquares& one) {
    const Node& squares = at(program_, one.squares);
    const DType type = squares.type;
    Parts parts;
    parts.mean = graph_.add(with_operands(at(program_, one.mean)));
    const NodeId distance =
        graph_.operation(Op::sub, type, renumbered_[index(one.value)], parts.mean);
    const NodeId square = graph_.operation(Op::mul, type, distance, distance);
    parts.sum = graph_.over_axes(Op::reduce_sum, type, squares.axes, distance);
    parts.squares = graph_.over_axes(Op::reduce_sum, type, squares.axes, square);
    parts.shift = graph_.operation(Op::div, type, parts.sum, renumbered_[index(one.count)]);
    parts.excess = graph_.operation(Op::mul, type, parts.sum, parts.shift);
    return parts;
  }

  /// Takes the absolute value, since rounding may leave slightly less than 0; the error is the
  /// same. The clamps handle two cases: over no elements the excess is nan while the squares are 0,
  /// and the excess is infinite only if the squares are.
  NodeId corrected_squares(const CentredSquares& one, const Parts& p) {
    const DType type = at(program_, one.squares).type;
    const double largest = type == f64 ? std::numeric_limits<double>::max()
                                       : static_cast<double>(std::numeric_limits<float>::max());
    NodeId excess = graph_.operation(Op::max, type, p.excess, graph_.constant(type, 0.0));
    excess = graph_.operation(Op::min, type, excess, graph_.constant(type, largest));
    return graph_.operation(Op::abs, type, graph_.operation(Op::sub, type, p.squares, excess));
  }

  /// Rounding x - mean(x) shifts all distances of a binade in the same direction, by a quarter of a
  /// unit of their size. So a shift below four units (whose square is 2^-46 of the mean square in
  /// f32) is not corrected.
  NodeId corrected_mean(const CentredSquares& one, const Parts& p) {
    const DType type = at(program_, one.squares).type;
    const NodeId least = graph_.operation(Op::mul, type, p.squares,
                                          graph_.constant(type, type == f64 ? 0x1p-104 : 0x1p-46));
    const NodeId counts = graph_.operation(Op::gt, b8, p.excess, least);
    const NodeId corrected = graph_.operation(Op::add, type, p.mean, p.shift);
    return graph_.operation(Op::where, type, counts, corrected, p.mean);
  }

  const Program& program_;
  std::vector<const CentredSquares*> of_mean_, of_squares_;  // by node
  std::vector<NodeId> renumbered_;                           // by node: its id in graph_
  Graph graph_;
};

/// True if `sum` is reduce_sum(distance) and `shift` is sum / n, for the same distances whose
/// squares are summed.
bool tells_shift(const Program& program, const CentredSquares& one, NodeId sum, NodeId shift) {
  const Node& s = at(program, sum);
  const Node& quotient = at(program, shift);
  return s.op == Op::reduce_sum && s.axes == at(program, one.squares).axes &&
         s.args[0] == one.distance && quotient.op == Op::div && quotient.args[0] == sum &&
         quotient.args[1] == one.count;
}

/// `excess` must be sum * (sum / n).
std::optional<Correction> match_correction(const Program& program, Correction::Of of,
                                           NodeId squares, NodeId excess) {
  const Node& product = at(program, excess);
  if (product.op != Op::mul) return {};
  const auto one = match_squares(program, squares);
  if (!one || !tells_shift(program, *one, product.args[0], product.args[1])) return {};
  return Correction{of, one->value, product.args[0], squares, one->mean, one->count};
}

}  // namespace

Program correct_centred_sums(const Program& program) {
  std::vector<CentredSquares> found;
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    if (const auto one = match_squares(program, static_cast<NodeId>(i))) found.push_back(*one);
  }
  return found.empty() ? program : Corrector(program, found).run();
}

std::optional<Correction> find_correction(const Program& program, NodeId id) {
  const Node& node = at(program, id);
  if (node.op == Op::abs) {
    const Node& rest = at(program, node.args[0]);
    if (rest.op != Op::sub) return {};
    const Node& finite = at(program, rest.args[1]);
    if (finite.op != Op::min) return {};
    const Node& excess = at(program, finite.args[0]);
    if (excess.op != Op::max) return {};
    return match_correction(program, Correction::Of::squares, rest.args[0], excess.args[0]);
  }
  if (node.op != Op::where) return {};
  const Node& condition = at(program, node.args[0]);
  const Node& corrected = at(program, node.args[1]);
  if (condition.op != Op::gt || corrected.op != Op::add) return {};
  const Node& least = at(program, condition.args[1]);
  if (least.op != Op::mul) return {};
  const auto found =
      match_correction(program, Correction::Of::mean, least.args[0], condition.args[0]);
  const bool same = found && found->mean == node.args[2] && corrected.args[0] == found->mean &&
                    corrected.args[1] == at(program, condition.args[0]).args[1];
  return same ? found : std::nullopt;
}

}  // namespace tilejit::expr
