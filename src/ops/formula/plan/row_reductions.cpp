#include "plan/row_reductions.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "device/device.hpp"
#include "device/warpgroup_costs.hpp"
#include "formula/product.hpp"
#include "formula/steps.hpp"
#include "matmul/product_plan.hpp"

namespace tilejit::plan {
namespace {

using expr::kNoNode;
using expr::Node;
using expr::NodeId;
using expr::Op;
using formula::Step;

constexpr double kUnits = 128;  // of a multiprocessor, that add and multiply f32

std::size_t index_of(int number) {
  return static_cast<std::size_t>(number);
}

bool is_reduced_by_tiles(const Node& node, std::uint32_t axes) {
  const bool known = node.op == Op::reduce_sum || node.op == Op::reduce_prod ||
                     node.op == Op::reduce_max || node.op == Op::reduce_min;
  return known && node.axes == axes && is_floating(node.type) && node.type != f64;
}

/// What a step that reads a product's results and reduces them along N has of each node: whether it
/// is made of a reduction, and whether it varies along N.
struct Values {
  std::vector<bool> reduced, varies;
  std::vector<NodeId> reductions;
};

/// Whether the tensor has more than one element along the last axis of `rank`.
bool spans_last(const Step& step, int tensor, std::size_t rank) {
  const std::vector<int>& axes = step.analysis.axes[index_of(tensor)];
  const Layout& layout = step.op.tensors[index_of(tensor)].layout;
  return !axes.empty() && index_of(axes.back()) + 1 == rank &&
         !product(mode(layout.shape(), axes.size() - 1)).is(1);
}

/// Nothing if tiles cannot reduce what the step does.
std::optional<Values> values_of(const Step& step) {
  const std::vector<Node>& nodes = step.analysis.program.nodes;
  const std::size_t rank = step.analysis.shape.size();
  if (rank < 2 || rank > expr::kMaxReducedRank) return std::nullopt;
  const std::uint32_t last = std::uint32_t{1} << (rank - 1);
  Values values;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    bool reduced = false, varies = node.op == Op::load && spans_last(step, node.source, rank);
    for (const NodeId arg : node.args) {
      if (arg == kNoNode) continue;
      reduced = reduced || values.reduced[index_of(arg)];
      varies = varies || values.varies[index_of(arg)];
    }
    if (node.op == Op::index) varies = (node.axes & last) != 0;
    // Of the extents of other axes, both steps know only those that are theirs.
    if (node.op == Op::extent && node.axes != last && (node.axes & last) != 0) return std::nullopt;
    if (expr::combines_elements(node.op)) {
      if (reduced || !is_reduced_by_tiles(node, last)) return std::nullopt;
      values.reductions.push_back(static_cast<NodeId>(i));
      reduced = true;
      varies = false;
    }
    values.reduced.push_back(reduced);
    values.varies.push_back(varies);
  }
  if (values.reductions.empty()) return std::nullopt;
  return values;
}

/// A step while it is put together from nodes of another one.
class Builder {
 public:
  Builder(Step step, const Step& from)
      : step_(std::move(step)),
        from_(from),
        numbers_(from.analysis.program.nodes.size(), kNoNode) {}

  [[nodiscard]] Step take() { return std::move(step_); }
  [[nodiscard]] std::vector<Node>& nodes() { return step_.analysis.program.nodes; }
  void put(NodeId old, NodeId made) { numbers_[index_of(old)] = made; }

  /// The node of that number, and what it is made of, unless it is there already.
  NodeId add(NodeId old) {
    if (numbers_[index_of(old)] != kNoNode) return numbers_[index_of(old)];
    Node node = from_.analysis.program.nodes[index_of(old)];
    if (node.op == Op::load) node.source = tensor(node.source);
    for (NodeId& arg : node.args) {
      if (arg != kNoNode) arg = add(arg);
    }
    if (node.op == Op::extent) set_extent(node);
    nodes().push_back(node);
    return numbers_[index_of(old)] = static_cast<NodeId>(nodes().size()) - 1;
  }

  /// A tensor of the other step.
  int tensor(int old) {
    const std::size_t t = index_of(old);
    for (std::size_t own = first_; own < step_.tensors.size(); ++own) {
      if (step_.tensors[own] == from_.tensors[t] &&
          step_.op.tensors[own].layout == from_.op.tensors[t].layout)
        return static_cast<int>(own);
    }
    return add_tensor(from_.op.tensors[t], from_.tensors[t], from_.analysis.axes[t]);
  }

  int add_tensor(Tensor tensor, int number, std::vector<int> axes) {
    step_.op.tensors.push_back(std::move(tensor));
    step_.tensors.push_back(number);
    step_.analysis.axes.push_back(std::move(axes));
    step_.analysis.access.push_back(Access::in);
    return static_cast<int>(step_.tensors.size()) - 1;
  }

  void store(int tensor, NodeId value) {
    step_.analysis.program.stores.push_back({.tensor = tensor, .value = value});
  }

  /// Tensors before that one are not those of the other step, even if they are the same memory.
  void keep_apart(std::size_t count) { first_ = count; }

 private:
  /// The extent of the axis that is reduced, which is a number.
  void set_extent(Node& node) const {
    const std::size_t last = from_.analysis.shape.size() - 1;
    if (!expr::has_axis(node.axes, last)) return;
    const std::int64_t extent = from_.analysis.shape[last].value();
    const DType type = node.type;
    node = {.op = Op::constant, .type = type};
    if (is_floating(type)) {
      node.constant = static_cast<double>(extent);
    } else {
      node.constant = extent;
    }
  }

  Step step_;
  const Step& from_;
  std::vector<NodeId> numbers_;  // of the other step's nodes in this one
  std::size_t first_ = 0;
};

class RowReductions {
 public:
  RowReductions(const Fused& op, const Target& target, std::vector<Step> steps, int first)
      : op_(op), target_(target), steps_(std::move(steps)), number_(first) {}

  StepList run() {
    for (std::size_t s = 0; s < steps_.size();) {
      if (split(s)) {
        steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(s));
      } else {
        ++s;
      }
    }
    return {.steps = std::move(steps_), .temporaries = std::move(temporaries_)};
  }

 private:
  /// Whether step `s`, a product, and the one that reduces its results are now two others, which
  /// stand where the latter stood.
  bool split(std::size_t s) {
    const Step& step = steps_[s];
    if (!formula::has_product(step.analysis.program) || step.analysis.program.stores.size() != 1)
      return false;
    const int result = step.tensors[index_of(step.analysis.program.stores[0].tensor)];
    if (result < static_cast<int>(op_.tensors.size())) return false;  // an output
    const std::optional<std::size_t> user = user_of(s, result);
    if (!user || !fits(step, steps_[*user], result)) return false;
    const std::optional<Values> values = values_of(steps_[*user]);
    if (!values || !has_two_kinds(steps_[*user], *values)) return false;
    Step tiles = with_reductions(step, steps_[*user], *values, result, 1);
    const auto kernel = reduced_product(tiles.op, tiles.analysis, target_);
    if (!kernel || !pays(step, steps_[*user], kernel->clocks)) return false;
    const std::int64_t extent = step.analysis.shape.back().value();
    const std::int64_t partials = (extent + kernel->columns - 1) / kernel->columns;
    tiles = with_reductions(step, steps_[*user], *values, result, partials);
    Step rows = of_partials(steps_[*user], *values, partials);
    for (std::size_t i = 0; i < values->reductions.size(); ++i)
      temporaries_.push_back({.dtype = f32, .elements = elements(step, partials)});
    number_ += static_cast<int>(values->reductions.size());
    steps_[*user] = std::move(rows);
    steps_.insert(steps_.begin() + static_cast<std::ptrdiff_t>(*user), std::move(tiles));
    return true;
  }

  /// The only step that reads the result, if it comes later, and nothing that the product reads is
  /// written before it has ended.
  [[nodiscard]] std::optional<std::size_t> user_of(std::size_t s, int result) const {
    std::optional<std::size_t> user;
    for (std::size_t u = 0; u < steps_.size(); ++u) {
      if (u == s || std::ranges::count(steps_[u].tensors, result) == 0) continue;
      if (user || u < s) return std::nullopt;
      user = u;
    }
    if (!user) return std::nullopt;
    for (std::size_t u = s + 1; u <= *user; ++u) {
      for (std::size_t t = 0; t < steps_[u].tensors.size(); ++t) {
        if (steps_[u].analysis.access[t] != Access::in &&
            std::ranges::count(steps_[s].tensors, steps_[u].tensors[t]) != 0)
          return std::nullopt;
      }
    }
    return user;
  }

  /// Whether `user` reads the results of `step` as they lie, in the same space.
  [[nodiscard]] static bool fits(const Step& step, const Step& user, int result) {
    const formula::Product product = formula::product_of(step.op, step.analysis);
    if (product.second || !product.reductions.empty() ||
        formula::has_product(user.analysis.program))
      return false;
    if (step.analysis.shape != user.analysis.shape || !step.analysis.shape.back().is_known())
      return false;
    const auto at = std::ranges::find(user.tensors, result) - user.tensors.begin();
    const int own = step.analysis.program.stores[0].tensor;
    return std::ranges::count(user.tensors, result) == 1 &&
           user.analysis.access[static_cast<std::size_t>(at)] == Access::in &&
           user.op.tensors[static_cast<std::size_t>(at)].layout ==
               step.op.tensors[index_of(own)].layout;
  }

  /// Whether every output has all elements and no reduction in it, or else one element a row. The
  /// former are the product's.
  [[nodiscard]] static bool has_two_kinds(const Step& user, const Values& values) {
    const std::size_t rank = user.analysis.shape.size();
    return std::ranges::all_of(user.analysis.program.stores, [&](const expr::Store& store) {
      const std::size_t value = index_of(store.value);
      return spans_last(user, store.tensor, rank) ? !values.reduced[value]
                                                  : values.reduced[value] && !values.varies[value];
    });
  }

  [[nodiscard]] static Dim elements(const Step& step, std::int64_t partials) {
    Dim all = partials;
    for (std::size_t i = 0; i + 1 < step.analysis.shape.size(); ++i)
      all = all * step.analysis.shape[i];
    return all;
  }

  /// Of partial results, one for each row and tile.
  [[nodiscard]] static Tensor tensor_of(const Step& step, std::size_t reduction,
                                        std::int64_t partials) {
    std::vector<IntTuple> extents(step.analysis.shape.begin(), step.analysis.shape.end() - 1);
    extents.emplace_back(Dim(partials));
    return {.name = "partial" + std::to_string(reduction),
            .dtype = f32,
            .layout = row_major(IntTuple::tuple(extents))};
  }

  /// The product with the outputs of `user` that have all elements, and with its reductions.
  [[nodiscard]] Step with_reductions(const Step& product, const Step& user, const Values& values,
                                     int result, std::int64_t partials) const {
    Step base = product;
    const expr::Store made = base.analysis.program.stores[0];
    base.analysis.program.stores.clear();
    const auto erase = [&](auto& list) { list.erase(list.begin() + made.tensor); };
    erase(base.op.tensors);
    erase(base.tensors);
    erase(base.analysis.axes);
    erase(base.analysis.access);
    for (Node& node : base.analysis.program.nodes) {
      if (node.op == Op::load && node.source > made.tensor) --node.source;
    }
    base.analysis.symbols.insert(user.analysis.symbols.begin(), user.analysis.symbols.end());
    base.why = user.why;
    Builder builder(std::move(base), user);
    builder.keep_apart(2);
    for (std::size_t i = 0; i < user.analysis.program.nodes.size(); ++i) {
      const Node& node = user.analysis.program.nodes[i];
      if (node.op == Op::load && user.tensors[index_of(node.source)] == result)
        builder.put(static_cast<NodeId>(i), made.value);
    }
    for (const expr::Store& store : user.analysis.program.stores) {
      if (values.reduced[index_of(store.value)]) continue;
      const NodeId value = builder.add(store.value);
      builder.store(builder.tensor(store.tensor), value);
    }
    for (std::size_t r = 0; r < values.reductions.size(); ++r) {
      const NodeId value = builder.add(values.reductions[r]);
      builder.store(
          builder.add_tensor(tensor_of(user, r, partials), number_ + static_cast<int>(r), {}),
          value);
    }
    Step step = builder.take();
    set_access(step);
    return step;
  }

  static void set_access(Step& step) {
    std::vector<bool> read(step.tensors.size()), written(step.tensors.size());
    for (const Node& node : step.analysis.program.nodes) {
      if (node.op == Op::load) read[index_of(node.source)] = true;
    }
    for (const expr::Store& store : step.analysis.program.stores)
      written[index_of(store.tensor)] = true;
    for (std::size_t t = 0; t < step.tensors.size(); ++t) {
      step.analysis.access[t] = !written[t] ? Access::in : read[t] ? Access::inout : Access::out;
    }
  }

  /// The step that reduces the partial results, and makes the outputs of one element a row.
  [[nodiscard]] Step of_partials(const Step& user, const Values& values,
                                 std::int64_t partials) const {
    Builder builder({.op = {.name = user.op.name,
                            .symbols = user.op.symbols,
                            .tensors = {},
                            .scalars = user.op.scalars},
                     .analysis = {},
                     .tensors = {},
                     .why = {}},
                    user);
    for (std::size_t r = 0; r < values.reductions.size(); ++r) {
      Node node = user.analysis.program.nodes[index_of(values.reductions[r])];
      const int tensor =
          builder.add_tensor(tensor_of(user, r, partials), number_ + static_cast<int>(r), {});
      builder.nodes().push_back({.op = Op::load, .type = node.type, .source = tensor});
      node.args[0] = static_cast<NodeId>(builder.nodes().size()) - 1;
      builder.nodes().push_back(node);
      builder.put(values.reductions[r], node.args[0] + 1);
    }
    for (const expr::Store& store : user.analysis.program.stores) {
      if (!values.reduced[index_of(store.value)]) continue;
      const NodeId value = builder.add(store.value);
      builder.store(builder.tensor(store.tensor), value);
    }
    Step step = builder.take();
    std::vector<Dim> shape = user.analysis.shape;
    shape.back() = Dim(partials);
    step.analysis = formula::analyze_step(step.op, step.analysis.program, shape);
    step.analysis.symbols = user.analysis.symbols;
    return step;
  }

  /// Whether the product and its reductions take less time than a product that leaves all of its
  /// results in memory, and a kernel that reads them. Either way, a second kernel follows.
  [[nodiscard]] bool pays(const Step& product, const Step& user, double clocks) const {
    const device::WarpgroupCosts costs;
    for (const Dim& extent : product.analysis.shape) {
      if (!extent.is_known()) return true;
    }
    if (!formula::product_of(product.op, product.analysis).k.is_known()) return true;
    const auto results = static_cast<double>(elements(product, 1).value()) *
                         static_cast<double>(product.analysis.shape.back().value());
    const double reading = results * size_bytes(f32) / costs.bytes_in_clock;
    const double units = kUnits * device::device_of(target_).multiprocessors;
    const double formula =
        results * static_cast<double>(expr::weight(user.analysis.program)) / units;
    return clocks <
           product_clocks(product.op, product.analysis, target_) + std::max(reading, formula);
  }

  const Fused& op_;
  const Target& target_;
  std::vector<Step> steps_;
  std::vector<Temporary> temporaries_;
  int number_;  // of the next tensor
};

}  // namespace

StepList with_row_reductions(const Fused& op, const Target& target, std::vector<Step> steps,
                             int first) {
  return RowReductions(op, target, std::move(steps), first).run();
}

}  // namespace tilejit::plan
