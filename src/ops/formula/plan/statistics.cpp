#include "plan/statistics.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "formula/product.hpp"
#include "matmul/product_plan.hpp"

namespace tilejit::plan {
namespace {

using expr::Node;
using expr::NodeId;
using expr::Op;
using formula::Step;

std::size_t index_of(int number) {
  return static_cast<std::size_t>(number);
}

/// A step that reduces rows: its input, its result, and the row's length.
struct Rows {
  std::size_t input = 0, result = 0;
  std::int64_t length = 0;
};

bool is_float(DType type) {
  return is_floating(type) && type != f64;
}

/// Whether the one value of `program` reads elements only through its one reduction along `axis`.
bool is_of_rows(const expr::Program& program, std::size_t axis) {
  const std::uint32_t axes = std::uint32_t{1} << axis;
  std::vector<bool> reads(program.nodes.size());  // elements, or their places
  int reductions = 0;
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    const Node& node = program.nodes[i];
    if (expr::is_scan(node.op) || node.op == Op::index || node.op == Op::matmul) return false;
    const bool reduces =
        node.op == Op::reduce_sum || node.op == Op::reduce_max || node.op == Op::reduce_min;
    if (expr::is_reduction(node.op) && (!reduces || !is_float(node.type))) return false;
    if (node.axes != 0 && node.axes != axes) return false;
    reductions += reduces;
    reads[i] = node.op == Op::load || (!reduces && std::ranges::any_of(node.args, [&](NodeId arg) {
                 return arg != expr::kNoNode && reads[index_of(arg)];
               }));
  }
  return reductions == 1 && !reads[index_of(program.stores[0].value)];
}

std::optional<Rows> rows_of(const Step& step) {
  const expr::Program& program = step.analysis.program;
  const std::size_t rank = step.analysis.shape.size();
  if (program.stores.size() != 1 || step.tensors.size() != 2 || rank < 2) return std::nullopt;
  if (rank > expr::kMaxReducedRank || !step.analysis.shape.back().is_known()) return std::nullopt;
  Rows rows{.result = index_of(program.stores[0].tensor),
            .length = step.analysis.shape.back().value()};
  rows.input = 1 - rows.result;
  if (step.analysis.access[rows.input] != Access::in || !is_of_rows(program, rank - 1))
    return std::nullopt;
  return rows;
}

class Statistics {
 public:
  Statistics(const Fused& op, const Target& target, std::vector<Step> steps)
      : op_(op), target_(target), steps_(std::move(steps)) {}

  std::vector<Step> run() {
    for (std::size_t s = 0; s < steps_.size();) {
      if (join(s)) {
        steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(s));
      } else {
        ++s;
      }
    }
    return std::move(steps_);
  }

 private:
  /// Whether step `s` became a part of all those that read its result.
  bool join(std::size_t s) {
    const std::optional<Rows> rows = rows_of(steps_[s]);
    if (!rows) return false;
    const int number = steps_[s].tensors[rows->result];
    if (number < static_cast<int>(op_.tensors.size())) return false;  // an output
    std::vector<std::pair<std::size_t, Step>> users;
    for (std::size_t u = 0; u < steps_.size(); ++u) {
      if (u == s || std::ranges::count(steps_[u].tensors, number) == 0) continue;
      if (u < s || is_replaced(steps_[s].tensors[rows->input], s, u)) return false;
      std::optional<Step> whole = joined(steps_[s], *rows, steps_[u]);
      if (!whole || !pays(*whole)) return false;
      users.emplace_back(u, *std::move(whole));
    }
    for (auto& [u, whole] : users) steps_[u] = std::move(whole);
    return !users.empty();
  }

  [[nodiscard]] bool pays(const Step& whole) const {
    Fused op = whole.op;
    if (steps_.size() == 2) op.tuning = op_.tuning;
    return pays_with_statistic(op, whole.analysis, target_);
  }

  [[nodiscard]] bool is_replaced(int number, std::size_t after, std::size_t last) const {
    for (std::size_t u = after + 1; u <= last; ++u) {
      for (std::size_t t = 0; t < steps_[u].tensors.size(); ++t) {
        if (steps_[u].tensors[t] == number && steps_[u].analysis.access[t] != Access::in)
          return true;
      }
    }
    return false;
  }

  /// `user` with what `step` computes, if that is of the rows of its left operand.
  [[nodiscard]] static std::optional<Step> joined(const Step& step, const Rows& rows,
                                                  const Step& user) {
    if (!formula::has_product(user.analysis.program)) return std::nullopt;
    const formula::Product product = formula::product_of(user.op, user.analysis);
    if (product.statistic != expr::kNoNode || product.a.value != expr::kNoNode) return std::nullopt;
    const Tensor &left = user.op.tensors[0], &read = step.op.tensors[rows.input];
    const bool same = user.tensors[0] == step.tensors[rows.input] && left.layout == read.layout &&
                      left.dtype == read.dtype && !product.k.is(0) && product.k.is(rows.length);
    const int number = step.tensors[rows.result];
    const auto at =
        static_cast<std::size_t>(std::ranges::find(user.tensors, number) - user.tensors.begin());
    const bool writes = user.analysis.access[at] != Access::in;
    if (!same || at < 2 || writes || std::ranges::count(user.tensors, number) != 1 ||
        !(user.op.tensors[at].layout == step.op.tensors[rows.result].layout)) {
      return std::nullopt;
    }
    Step whole = user;
    whole.analysis.program =
        joined(step.analysis.program, rows.length, user.analysis.program, static_cast<int>(at));
    const auto erase = [&](auto& list) {
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
    };
    erase(whole.op.tensors);
    erase(whole.tensors);
    erase(whole.analysis.axes);
    erase(whole.analysis.access);
    return whole;
  }

  /// `program` with the value of `rows` instead of the load of `at`, a tensor that it has no more.
  static expr::Program joined(const expr::Program& rows, std::int64_t length,
                              const expr::Program& program, int at) {
    expr::Program whole = program;
    whole.nodes = rows.nodes;
    for (Node& node : whole.nodes) {
      if (node.op == Op::load) node.source = 0;
      if (node.op != Op::extent) continue;
      const bool floating = is_floating(node.type);
      node = {.op = Op::constant, .type = node.type};
      if (floating) {
        node.constant = static_cast<double>(length);
      } else {
        node.constant = length;
      }
    }
    std::vector<NodeId> numbers;  // of the program's nodes in the whole
    for (Node node : program.nodes) {
      if (node.op == Op::load && node.source == at) {
        numbers.push_back(rows.stores[0].value);
        continue;
      }
      if (node.op == Op::load && node.source > at) --node.source;
      for (NodeId& arg : node.args) {
        if (arg != expr::kNoNode) arg = numbers[index_of(arg)];
      }
      numbers.push_back(static_cast<NodeId>(whole.nodes.size()));
      whole.nodes.push_back(node);
    }
    for (expr::Store& store : whole.stores) {
      store.value = numbers[index_of(store.value)];
      if (store.tensor > at) --store.tensor;
    }
    return whole;
  }

  const Fused& op_;
  const Target& target_;
  std::vector<Step> steps_;
};

}  // namespace

std::vector<formula::Step> with_statistics(const Fused& op, const Target& target,
                                           std::vector<formula::Step> steps) {
  return Statistics(op, target, std::move(steps)).run();
}

}  // namespace tilejit::plan
