#include "plan/split.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <utility>

#include "expr/traits.hpp"
#include "spec/common.hpp"
#include "tilejit/error.hpp"

namespace tilejit::plan {
namespace {

using expr::kNoNode;
using expr::Node;
using expr::NodeId;
using expr::Store;
using Axes = std::uint32_t;
using Tensors = std::uint64_t;  // bit t: tensor t
static_assert(spec::kMaxTensors <= 64);

constexpr int kNowhere = -1;
constexpr std::size_t kMostGroups = 32;

/// Values that are computed together: reductions and scans over the same axes of the same space, or
/// only outputs.
struct Group {
  Axes space = 0;
  Axes combined = 0;                 // 0: no reductions or scans
  std::optional<bool> reverse = {};  // direction of its scans
  NodeId first = kNoNode;            // of `nodes`
  std::vector<NodeId> nodes = {};    // reductions and scans
  std::vector<NodeId> made = {};     // of their results alone, for later groups
  std::vector<Store> outputs = {};   // of the operation
};

std::size_t index_of(int number) {
  return static_cast<std::size_t>(number);
}

class Splitter {
 public:
  /// `passes`: those that each node needs, if parts take one each; else empty.
  Splitter(const Fused& op, const formula::Analysis& analysis, std::vector<int> passes)
      : op_(op), analysis_(analysis), nodes_(analysis.program.nodes), passes_(std::move(passes)) {
    for (std::size_t axis = 0; axis < analysis.shape.size(); ++axis) {
      if (!analysis.shape[axis].is(1)) all_ |= Axes{1} << axis;
    }
    for (std::size_t t = 0; t < op.tensors.size(); ++t) spanned_.push_back(axes_spanned(t));
    values_ = expr::axes_of_values(analysis.program, spanned_);
    group_of_.assign(nodes_.size(), kNowhere);
    temporary_of_.assign(nodes_.size(), kNowhere);
  }

  Split run() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!expr::combines_elements(nodes_[i].op)) continue;
      while (group_of_[i] == kNowhere) add_group();
    }
    find_reads();
    place_outputs();
    find_made();
    // What a group makes for later ones may be made of results that no group asked for before.
    for (bool more = true; more;) {
      const std::size_t known = kept_.size();
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        for (const NodeId id : nodes_of(g)) {
          if (is_given(id, g)) add_temporary(id);
        }
      }
      more = kept_.size() > known;
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) split_.parts.push_back(make_part(g));
    return std::move(split_);
  }

 private:
  /// Axes along which the tensor has more than one element.
  [[nodiscard]] Axes axes_spanned(std::size_t t) const {
    Axes axes = 0;
    for (std::size_t i = 0; i < analysis_.axes[t].size(); ++i) {
      if (!product(mode(op_.tensors[t].layout.shape(), i)).is(1)) {
        axes |= Axes{1} << analysis_.axes[t][i];
      }
    }
    return axes;
  }

  /// Axes of the space in which a reduction or scan is computed: those along which its argument
  /// varies, so that everything it is made of varies within that space, and those that it goes
  /// over.
  [[nodiscard]] Axes space_of(std::size_t node) const {
    return all_ & (values_[node].varying | nodes_[node].axes);
  }

  /// Whether a reduction or scan has the group's space, axes and direction.
  [[nodiscard]] bool is_alike(std::size_t i, const Group& group) const {
    const Node& node = nodes_[i];
    if (expr::is_scan(node.op) && group.reverse.value_or(node.reverse) != node.reverse)
      return false;
    if (!passes_.empty() && passes_[i] != passes_[index_of(group.first)]) return false;
    return node.axes == group.combined && space_of(i) == group.space;
  }

  /// Adds a group of the first reduction or scan that is left and all that can be computed with it.
  void add_group() {
    if (groups_.size() == kMostGroups) {
      throw Error(ErrorCode::unsupported,
                  "the formula takes more than " + std::to_string(kMostGroups) +
                      " kernels, one after another; split it",
                  "/formula");
    }
    const int number = static_cast<int>(groups_.size());
    Group group;
    // Per node: whether it needs values that this group does not know.
    std::vector<bool> waits(nodes_.size(), false);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Node& node = nodes_[i];
      for (const NodeId arg : node.args) {
        if (arg != kNoNode && waits[index_of(arg)]) waits[i] = true;
      }
      if (!expr::combines_elements(node.op)) continue;
      if (group_of_[i] != kNowhere) {
        waits[i] = false;
        continue;
      }
      if (group.nodes.empty() && !waits[i]) {
        group.combined = node.axes;
        group.space = space_of(i);
        group.first = static_cast<NodeId>(i);
      }
      if (waits[i] || !is_alike(i, group)) {
        waits[i] = true;
        continue;
      }
      group.nodes.push_back(static_cast<NodeId>(i));
      group_of_[i] = number;
      if (!expr::is_scan(node.op)) continue;
      group.reverse = node.reverse;
      waits[i] = true;  // nothing combines a scan's results in its own group
    }
    groups_.push_back(std::move(group));
  }

  /// Finds the group in which each value is known, and the tensors that it reads other than through
  /// reductions and scans.
  void find_reads() {
    known_in_.assign(nodes_.size(), 0);
    reads_.assign(nodes_.size(), 0);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Node& node = nodes_[i];
      if (node.op == expr::Op::load) reads_[i] = Tensors{1} << node.source;
      for (const NodeId arg : node.args) {
        if (arg == kNoNode) continue;
        known_in_[i] = std::max(known_in_[i], known_in_[index_of(arg)]);
        reads_[i] |= reads_[index_of(arg)];
      }
      if (!expr::combines_elements(node.op)) continue;
      known_in_[i] = group_of_[i];
      groups_reads_.resize(groups_.size(), 0);
      groups_reads_[index_of(group_of_[i])] |= reads_[i];
      reads_[i] = 0;
    }
  }

  /// Whether both groups have the same rows.
  [[nodiscard]] bool have_same_rows(int one, int other) const {
    const Group &a = groups_[index_of(one)], &b = groups_[index_of(other)];
    return a.space == b.space && a.combined == b.combined;
  }

  /// Finds values that are made of reductions of groups with the same rows, and of constants alone:
  /// the last of these groups computes them once per row, and no later one again for each element.
  void find_made() {
    made_by_ = group_of_;
    std::vector<bool> constant(nodes_.size(), false);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Node& node = nodes_[i];
      if (expr::combines_elements(node.op)) continue;
      constant[i] = node.op == expr::Op::constant || node.op == expr::Op::scalar ||
                    node.op == expr::Op::extent;
      if (constant[i] || node.op == expr::Op::load || node.op == expr::Op::index) continue;
      std::optional<int> maker;
      bool alone = true;
      for (const NodeId arg : node.args) {
        if (arg == kNoNode || constant[index_of(arg)]) continue;
        const int by = made_by_[index_of(arg)];
        const bool scans = expr::is_scan(nodes_[index_of(arg)].op);
        alone = alone && by != kNowhere && !scans && have_same_rows(maker.value_or(by), by);
        maker = std::max(maker.value_or(by), by);
      }
      constant[i] = alone && !maker;
      if (alone && maker) made_by_[i] = *maker;
    }
  }

  /// Whether the value of `node` comes to group `g` from an earlier one.
  [[nodiscard]] bool is_given(NodeId node, std::size_t g) const {
    const int own = made_by_[index_of(node)];
    return own != kNowhere && index_of(own) != g;
  }

  /// The nodes that group `g` computes or is given, in the order of the program.
  [[nodiscard]] std::vector<NodeId> nodes_of(std::size_t g) const {
    std::vector<bool> needed(nodes_.size(), false);
    for (const NodeId id : groups_[g].nodes) needed[index_of(id)] = true;
    for (const NodeId id : groups_[g].made) needed[index_of(id)] = true;
    for (const Store& output : groups_[g].outputs) needed[index_of(output.value)] = true;
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      if (!needed[i] || is_given(static_cast<NodeId>(i), g)) continue;
      for (const NodeId arg : nodes_[i].args) {
        if (arg != kNoNode) needed[index_of(arg)] = true;
      }
    }
    std::vector<NodeId> found;
    for (std::size_t i = 0; i < needed.size(); ++i) {
      if (needed[i]) found.push_back(static_cast<NodeId>(i));
    }
    return found;
  }

  /// Whether the group's template can write the output: it must have the full space, or one element
  /// per row.
  [[nodiscard]] bool writes(const Group& group, const Store& output) const {
    const Axes spanned = spanned_[index_of(output.tensor)], reduced = group.combined & all_;
    const bool all_rows = (group.space & ~reduced & ~spanned) == 0;
    const bool inside = (spanned & ~group.space) == 0;
    if (!passes_.empty() && (spanned & reduced) != 0) return false;
    return all_rows && inside && ((spanned & reduced) == 0 || (spanned & reduced) == reduced);
  }

  /// The inputs whose elements `output` may replace: itself, and those with which it may share
  /// memory in a launch.
  [[nodiscard]] Tensors replaced_by(const Store& output) const {
    const std::size_t t = index_of(output.tensor);
    const auto bytes = [&](std::size_t tensor) { return size_bytes(op_.tensors[tensor].dtype); };
    Tensors tensors = 0;
    for (std::size_t u = 0; u < op_.tensors.size(); ++u) {
      if (spanned_[u] == spanned_[t] && bytes(u) == bytes(t)) tensors |= Tensors{1} << u;
    }
    return tensors;
  }

  /// Gives each output to the first group that can write it. Outputs that no group can write get
  /// groups of their own.
  void place_outputs() {
    std::vector<Store> left = analysis_.program.stores;
    const std::size_t combining = groups_.size();
    for (std::size_t g = 0; g < combining; ++g) {
      std::vector<Store> here, later;
      for (const Store& output : left) {
        const bool fits =
            known_in_[index_of(output.value)] <= static_cast<int>(g) && writes(groups_[g], output);
        (fits ? here : later).push_back(output);
      }
      make_wait(here, later, g);
      groups_[g].outputs = std::move(here);
      left = std::move(later);
    }
    while (!left.empty()) {
      // Only outputs with the same axes or more read an input that an output replaces. Those with
      // more axes come first.
      const auto count = [&](const Store& output) {
        return std::popcount(spanned_[index_of(output.tensor)]);
      };
      const Axes space = spanned_[index_of(std::ranges::max_element(left, {}, count)->tensor)];
      std::vector<Store> later;
      groups_.push_back({.space = space, .combined = 0, .nodes = {}, .outputs = {}});
      for (const Store& output : left) {
        const bool fits = spanned_[index_of(output.tensor)] == space;
        (fits ? groups_.back().outputs : later).push_back(output);
      }
      left = std::move(later);
    }
  }

  /// Moves outputs of group `g` to later groups if later groups still read what they may replace.
  void make_wait(std::vector<Store>& here, std::vector<Store>& later, std::size_t g) const {
    Tensors read = 0;
    for (std::size_t other = g + 1; other < groups_reads_.size(); ++other) {
      read |= groups_reads_[other];
    }
    for (const Store& output : later) read |= reads_[index_of(output.value)];
    for (auto output = here.begin(); output != here.end();) {
      if ((replaced_by(*output) & read) == 0) {
        ++output;
        continue;
      }
      read |= reads_[index_of(output->value)];
      later.push_back(*output);
      here.erase(output);
      output = here.begin();
    }
  }

  void add_temporary(NodeId id) {
    if (temporary_of_[index_of(id)] != kNowhere) return;
    temporary_of_[index_of(id)] = static_cast<int>(kept_.size());
    kept_.push_back(id);
    if (group_of_[index_of(id)] == kNowhere)
      groups_[index_of(made_by_[index_of(id)])].made.push_back(id);
    Dim elements = 1;
    for (const int axis : axes_of_temporary(id)) {
      elements = elements * analysis_.shape[index_of(axis)];
    }
    split_.temporaries.push_back(
        {.dtype = expr::held_type(nodes_[index_of(id)]), .elements = elements});
  }

  /// The axes along which a part writes its result: all axes of its space that are not reduced.
  [[nodiscard]] std::vector<int> axes_of_temporary(NodeId id) const {
    const Group& group = groups_[index_of(made_by_[index_of(id)])];
    Axes axes = group.space;
    if (!expr::is_scan(nodes_[index_of(id)].op)) axes &= ~group.combined;
    std::vector<int> list;
    for (std::size_t axis = 0; axis < analysis_.shape.size(); ++axis) {
      if (expr::has_axis(axes & all_, axis)) list.push_back(static_cast<int>(axis));
    }
    return list;
  }

  [[nodiscard]] Tensor temporary(NodeId id) const {
    std::vector<IntTuple> extents;
    for (const int axis : axes_of_temporary(id)) {
      extents.emplace_back(analysis_.shape[index_of(axis)]);
    }
    if (extents.empty()) extents.emplace_back(1);
    return {.name = "v" + std::to_string(id),
            .dtype = expr::held_type(nodes_[index_of(id)]),
            .layout = row_major(IntTuple::tuple(extents))};
  }

  /// One part while it is put together.
  struct Draft {
    Part part;
    std::vector<NodeId> new_ids;  // indexed by old ids
  };

  Part make_part(std::size_t g) const {
    const Group& group = groups_[g];
    Draft draft;
    draft.new_ids.assign(nodes_.size(), kNoNode);
    draft.part.op.name = op_.name;
    draft.part.op.scalars = op_.scalars;
    draft.part.op.symbols = op_.symbols;
    draft.part.analysis.symbols = analysis_.symbols;
    for (std::size_t axis = 0; axis < analysis_.shape.size(); ++axis) {
      const bool inside = expr::has_axis(group.space, axis);
      draft.part.analysis.shape.push_back(inside ? analysis_.shape[axis] : Dim(1));
    }
    for (const NodeId id : nodes_of(g)) add_node(draft, id, g);
    for (const Store& output : group.outputs) add_store(draft, output.tensor, output.value);
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      if (made_by_[index_of(kept_[i])] == static_cast<int>(g)) {
        add_store(draft, static_cast<int>(op_.tensors.size() + i), kept_[i]);
      }
    }
    return std::move(draft.part);
  }

  void add_node(Draft& draft, NodeId id, std::size_t g) const {
    Node node = nodes_[index_of(id)];
    if (is_given(id, g)) {
      const int number = static_cast<int>(op_.tensors.size()) + temporary_of_[index_of(id)];
      node = {
          .op = expr::Op::load, .type = node.type, .source = local(draft.part, number, Access::in)};
    } else {
      if (node.op == expr::Op::load) node.source = local(draft.part, node.source, Access::in);
      for (NodeId& arg : node.args) {
        if (arg != kNoNode) arg = draft.new_ids[index_of(arg)];
      }
    }
    std::vector<Node>& nodes = draft.part.analysis.program.nodes;
    draft.new_ids[index_of(id)] = static_cast<NodeId>(nodes.size());
    nodes.push_back(node);
  }

  void add_store(Draft& draft, int tensor, NodeId value) const {
    draft.part.analysis.program.stores.push_back(
        {local(draft.part, tensor, Access::out), draft.new_ids[index_of(value)]});
  }

  /// The part's own number of a tensor or temporary, which is added to the part if it is missing.
  int local(Part& part, int number, Access access) const {
    const auto found = std::ranges::find(part.tensors, number);
    const auto at = index_of(static_cast<int>(found - part.tensors.begin()));
    if (found != part.tensors.end()) {
      Access& known = part.analysis.access[at];
      if (known != access) known = Access::inout;
      return static_cast<int>(at);
    }
    part.tensors.push_back(number);
    part.analysis.access.push_back(access);
    if (index_of(number) < op_.tensors.size()) {
      part.op.tensors.push_back(op_.tensors[index_of(number)]);
      part.analysis.axes.push_back(analysis_.axes[index_of(number)]);
    } else {
      const NodeId id = kept_[index_of(number) - op_.tensors.size()];
      part.op.tensors.push_back(temporary(id));
      std::vector<int> axes = axes_of_temporary(id);
      if (axes.empty()) axes.push_back(0);  // one element
      part.analysis.axes.push_back(std::move(axes));
    }
    return static_cast<int>(at);
  }

  const Fused& op_;
  const formula::Analysis& analysis_;
  const std::vector<Node>& nodes_;
  Axes all_ = 0;                         // axes of more than one element
  std::vector<Axes> spanned_;            // per tensor
  std::vector<expr::ValueAxes> values_;  // per node
  std::vector<int> passes_;              // per node, if parts go over their rows once; or empty
  std::vector<int> group_of_;            // per reduction or scan: the group that computes it
  std::vector<int> made_by_;             // the same of values made of one's results alone
  std::vector<int> known_in_;            // per node: the first group that can compute it
  std::vector<Tensors> reads_;           // per node: except through reductions and scans
  std::vector<Tensors> groups_reads_;    // per group: for its reductions and scans
  std::vector<int> temporary_of_;        // per node: its number among kept_
  std::vector<Group> groups_;
  std::vector<NodeId> kept_;  // reductions, scans, and what is made of them, that are temporaries
  Split split_;
};

}  // namespace

Split split(const Fused& op, const formula::Analysis& analysis) {
  return Splitter(op, analysis, {}).run();
}

Split split_by_passes(const Fused& op, const formula::Analysis& analysis,
                      const std::vector<expr::JoinedSum>& joined) {
  return Splitter(op, analysis, expr::passes_before(analysis.program, joined)).run();
}

}  // namespace tilejit::plan
