#include "attention/score_program.hpp"

#include <algorithm>
#include <cmath>
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

/// 1 / x for a constant x of f32, if it is a normal number.
std::optional<double> reciprocal(const Node& node) {
  const double* const value =
      node.op == Op::constant && node.type == f32 ? std::get_if<double>(&node.constant) : nullptr;
  if (value == nullptr || !std::isfinite(*value) || std::fabs(*value) < 1e-30 ||
      std::fabs(*value) > 1e30) {
    return std::nullopt;
  }
  return static_cast<double>(1.0F / static_cast<float>(*value));
}

void multiply_instead_of_divide(Scores& scores) {
  std::vector<Node> nodes;
  std::vector<NodeId> ids;
  for (Node node : scores.program.nodes) {
    for (NodeId& arg : node.args) {
      if (arg != kNoNode) arg = ids[index(arg)];
    }
    if (node.op == Op::div && node.type == f32) {
      if (const auto factor = reciprocal(nodes[index(node.args[1])])) {
        node.op = Op::mul;
        node.args[1] = static_cast<NodeId>(nodes.size());
        nodes.push_back({.op = Op::constant, .type = f32, .constant = *factor});
      }
    }
    ids.push_back(static_cast<NodeId>(nodes.size()));
    nodes.push_back(node);
  }
  scores.program.nodes = std::move(nodes);
  for (expr::Store& store : scores.program.stores) store.value = ids[index(store.value)];
  formula::Attention& of = scores.attention;
  of.score = ids[index(of.score)];
  if (of.scale != kNoNode) of.scale = ids[index(of.scale)];
  for (formula::ScoreMask& mask : of.masks) mask.condition = ids[index(mask.condition)];
}

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
  multiply_instead_of_divide(scores);
  Narrowing(scores).run();
}

}  // namespace tilejit::plan
