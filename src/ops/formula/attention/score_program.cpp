#include "attention/score_program.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace tilejit::plan {
namespace {

using expr::kNoNode;
using expr::Node;
using expr::NodeId;
using expr::Op;

constexpr std::int64_t kEnd = std::int64_t{1} << 31;

std::size_t index(NodeId id) {
  return static_cast<std::size_t>(id);
}

/// After the program's nodes have got other numbers.
void renumber(Scores& scores, const std::vector<NodeId>& ids) {
  for (expr::Store& store : scores.program.stores) store.value = ids[index(store.value)];
  formula::Attention& of = scores.attention;
  for (NodeId* const id :
       {&of.weight, &of.term, &of.sum, &of.divisor, &of.exponent, &of.score, &of.scale}) {
    if (*id != kNoNode) *id = ids[index(*id)];
  }
  for (formula::ScoreMask& mask : of.masks) mask.condition = ids[index(mask.condition)];
}

/// Division by what is the same for all scores becomes multiplication by its reciprocal, and
/// factors of that kind become one.
class UniformFactors {
 public:
  explicit UniformFactors(Scores& scores) : scores_(scores), nodes_(scores.program.nodes) {}

  void run() {
    const std::vector<bool> uniform = formula::uniform_nodes(scores_.program);
    const std::vector<Node> before = std::exchange(nodes_, {});
    for (std::size_t i = 0; i < before.size(); ++i) {
      Node node = before[i];
      for (NodeId& arg : node.args) {
        if (arg != kNoNode) arg = ids_[index(arg)];
      }
      ids_.push_back(uniform[i] ? add(node, true) : made(node));
    }
    renumber(scores_, ids_);
  }

 private:
  NodeId add(const Node& node, bool uniform) {
    nodes_.push_back(node);
    uniform_.push_back(uniform);
    return static_cast<NodeId>(nodes_.size() - 1);
  }

  NodeId made(Node node) {
    if (node.type != f32 || (node.op != Op::div && node.op != Op::mul)) return add(node, false);
    if (node.op == Op::div) {
      if (!uniform_[index(node.args[1])]) return add(node, false);
      node.op = Op::mul;
      node.args[1] = reciprocal(node.args[1]);
    }
    if (uniform_[index(node.args[0])]) std::swap(node.args[0], node.args[1]);
    const Node inner = nodes_[index(node.args[0])];
    const bool chains = uniform_[index(node.args[1])] && inner.op == Op::mul && inner.type == f32 &&
                        uniform_[index(inner.args[1])];
    if (!chains) return add(node, false);
    const NodeId factor =
        add({.op = Op::mul, .type = f32, .args = {inner.args[1], node.args[1], kNoNode}}, true);
    return add({.op = Op::mul, .type = f32, .args = {inner.args[0], factor, kNoNode}}, false);
  }

  NodeId reciprocal(NodeId id) {
    const NodeId one = add({.op = Op::constant, .type = f32, .constant = 1.0}, true);
    return add({.op = Op::div, .type = f32, .args = {one, id, kNoNode}}, true);
  }

  Scores& scores_;
  std::vector<Node>& nodes_;
  std::vector<NodeId> ids_;
  std::vector<bool> uniform_;
};

/// tanh is the hardware's, as for results of 16 bits.
void shorten_tanh(Scores& scores) {
  for (Node& node : scores.program.nodes) {
    if (node.op == Op::tanh && node.type == f32) node.type = bf16;
  }
}

/// Differences of coordinates become differences of floats, since conversions are slow. All are
/// whole numbers below 2^24, and exact.
class FloatCoordinates {
 public:
  explicit FloatCoordinates(Scores& scores) : scores_(scores), nodes_(scores.program.nodes) {}

  void run() {
    const std::vector<Node> before = std::exchange(nodes_, {});
    for (const Node& node : before) {
      Node copy = node;
      for (NodeId& arg : copy.args) {
        if (arg != kNoNode) arg = ids_[index(arg)];
      }
      const bool converts = copy.op == Op::cast && copy.type == f32;
      const NodeId made = converts ? as_float(copy.args[0]) : kNoNode;
      ids_.push_back(made == kNoNode ? add(copy) : made);
    }
    renumber(scores_, ids_);
  }

 private:
  NodeId add(const Node& node) {
    nodes_.push_back(node);
    return static_cast<NodeId>(nodes_.size() - 1);
  }

  /// The same number as f32, if it is a coordinate, or a difference of two.
  NodeId as_float(NodeId id) {
    const Node node = nodes_[index(id)];
    if (node.type != i64 && node.type != i32) return kNoNode;
    if (node.op == Op::index && is_short(node))
      return add({.op = Op::cast, .type = f32, .args = {id, kNoNode, kNoNode}});
    if (node.op != Op::sub) return kNoNode;
    const auto is_coordinate = [&](NodeId arg) {
      return nodes_[index(arg)].op == Op::index && is_short(nodes_[index(arg)]);
    };
    if (!is_coordinate(node.args[0]) || !is_coordinate(node.args[1])) return kNoNode;
    const NodeId a = as_float(node.args[0]), b = as_float(node.args[1]);
    return add({.op = Op::sub, .type = f32, .args = {a, b, kNoNode}});
  }

  [[nodiscard]] bool is_short(const Node& node) const {
    constexpr std::int64_t kExact = std::int64_t{1} << 24;
    for (std::size_t i = 0; i < scores_.shape.size(); ++i) {
      const Dim& extent = scores_.shape[i];
      if (expr::has_axis(node.axes, i) && !(extent.is_known() && extent.value() <= kExact))
        return false;
    }
    return true;
  }

  Scores& scores_;
  std::vector<Node>& nodes_;
  std::vector<NodeId> ids_;
};

/// Which integers fit in 32 bits, and are used by nothing that takes 64.
class Narrowing {
 public:
  explicit Narrowing(Scores& scores) : scores_(scores), nodes_(scores.program.nodes) {}

  void run() {
    for (const Node& node : nodes_) ranges_.push_back(range_of(node));
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      narrow_.push_back(nodes_[i].type == i64 && ranges_[i].has_value());
    while (drop()) {
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (narrow_[i]) nodes_[i].type = i32;
    }
  }

 private:
  struct Range {
    std::int64_t low, high;
  };

  [[nodiscard]] static std::optional<Range> fitting(std::int64_t low, std::int64_t high) {
    return low < -kEnd || high >= kEnd ? std::nullopt : std::optional(Range{low, high});
  }

  [[nodiscard]] std::optional<Range> range_of(const Node& node) const {
    if (node.type != i64) return std::nullopt;
    const auto extent = [&]() -> Range {
      Dim extent = 1;
      for (std::size_t i = 0; i < scores_.shape.size(); ++i) {
        if (expr::has_axis(node.axes, i)) extent = extent * scores_.shape[i];
      }
      return {0, extent.is_known() ? extent.value() : kEnd - 1};
    };
    const auto of = [&](int arg) -> std::optional<Range> {
      return ranges_[index(node.args[static_cast<std::size_t>(arg)])];
    };
    switch (node.op) {
      case Op::constant: {
        const std::int64_t value = std::get<std::int64_t>(node.constant);
        return fitting(value, value);
      }
      case Op::index: return fitting(0, extent().high - (extent().high > 0 ? 1 : 0));
      case Op::extent: return has_one_axis(node) ? fitting(0, extent().high) : std::nullopt;
      case Op::cast: {
        const bool is_narrow = scores_.program.nodes[index(node.args[0])].type == i32;
        return is_narrow ? fitting(-kEnd, kEnd - 1) : std::nullopt;
      }
      case Op::neg: return of(0) ? fitting(-of(0)->high, -of(0)->low) : std::nullopt;
      case Op::abs: return of(0) ? fitting(0, std::max(-of(0)->low, of(0)->high)) : std::nullopt;
      case Op::add:
        return of(0) && of(1) ? fitting(of(0)->low + of(1)->low, of(0)->high + of(1)->high)
                              : std::nullopt;
      case Op::sub:
        return of(0) && of(1) ? fitting(of(0)->low - of(1)->high, of(0)->high - of(1)->low)
                              : std::nullopt;
      case Op::min:
      case Op::max:
        return of(0) && of(1)
                   ? fitting(std::min(of(0)->low, of(1)->low), std::max(of(0)->high, of(1)->high))
                   : std::nullopt;
      default: return std::nullopt;
    }
  }

  [[nodiscard]] static bool has_one_axis(const Node& node) {
    return node.axes != 0 && (node.axes & (node.axes - 1)) == 0;
  }
  [[nodiscard]] static bool compares(Op op) { return op >= Op::lt && op <= Op::gt; }

  /// Widens one value if what it is made of, or what takes it, has 64 bits.
  bool drop() {
    bool dropped = false;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Node& node = nodes_[i];
      bool all = true;
      for (const NodeId arg : node.args)
        all = all && (arg == kNoNode || nodes_[index(arg)].type != i64 || narrow_[index(arg)]);
      const bool takes_either = node.op == Op::cast || (compares(node.op) && all);
      if (narrow_[i] && !all) {
        narrow_[i] = false;
        dropped = true;
      }
      if (narrow_[i] || takes_either) continue;
      for (const NodeId arg : node.args) {
        if (arg == kNoNode || !narrow_[index(arg)]) continue;
        narrow_[index(arg)] = false;
        dropped = true;
      }
    }
    return dropped;
  }

  Scores& scores_;
  std::vector<Node>& nodes_;
  std::vector<std::optional<Range>> ranges_;
  std::vector<bool> narrow_;
};

}  // namespace

void simplify(Scores& scores) {
  UniformFactors(scores).run();
  shorten_tanh(scores);
  FloatCoordinates(scores).run();
  Narrowing(scores).run();
}

}  // namespace tilejit::plan
