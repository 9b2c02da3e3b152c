#include "reference/schedule.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "tilejit/error.hpp"

namespace tilejit::reference {
namespace {

using expr::kNoNode;
using expr::Node;
using expr::NodeId;

std::vector<int> axes_of(std::uint32_t mask) {
  std::vector<int> axes;
  for (std::size_t axis = 0; axis < expr::kMaxReducedRank; ++axis) {
    if (expr::has_axis(mask, axis)) axes.push_back(static_cast<int>(axis));
  }
  return axes;
}

std::vector<int> axes_spanned(const TensorView& view) {
  std::vector<int> axes;
  for (std::size_t axis = 0; axis < view.modes.size(); ++axis) {
    if (!view.modes[axis].empty()) axes.push_back(static_cast<int>(axis));
  }
  return axes;
}

std::uint32_t mask_of(const std::vector<int>& axes) noexcept {
  std::uint32_t mask = 0;
  for (const int axis : axes) mask |= std::uint32_t{1} << axis;
  return mask;
}

class Scheduler {
 public:
  explicit Scheduler(const Problem& problem) : problem_(problem) {}

  Schedule run() {
    const auto combines = [](const Node& node) { return expr::combines_elements(node.op); };
    if (std::ranges::any_of(nodes(), combines)) add_combinations();
    add_stores();
    return std::move(schedule_);
  }

 private:
  // Level, axes of the walk, combined axes, whether they are scans, and the direction of the scans.
  using Key = std::tuple<int, std::uint32_t, std::uint32_t, bool, bool>;

  [[nodiscard]] const std::vector<Node>& nodes() const { return problem_.program.nodes; }

  void add_combinations() {
    set_varying();
    std::map<Key, std::vector<NodeId>> groups;
    std::vector<int> levels;  // depth of reductions and scans that use each other's results
    for (std::size_t id = 0; id < nodes().size(); ++id) {
      const Node& node = nodes()[id];
      int level = 0;
      for (const NodeId arg : node.args) {
        if (arg != kNoNode) level = std::max(level, levels[static_cast<std::size_t>(arg)]);
      }
      if (expr::combines_elements(node.op)) {
        const std::uint32_t kept = schedule_.varying[id] & ~node.axes;
        groups[{level, kept, node.axes, expr::is_scan(node.op), node.reverse}].push_back(
            static_cast<NodeId>(id));
        ++level;
      }
      levels.push_back(level);
    }
    for (auto& [key, ids] : groups) {
      Pass pass = combining_pass(std::get<1>(key), std::get<2>(key), ids);
      (std::get<3>(key) ? pass.scans : pass.reductions) = std::move(ids);
      pass.reverse = std::get<4>(key);
      schedule_.combinations.push_back(std::move(pass));
    }
  }

  void set_varying() {
    std::vector<std::uint32_t> tensors;
    for (const TensorView& view : problem_.tensors) tensors.push_back(mask_of(axes_spanned(view)));
    for (const expr::ValueAxes& axes : expr::axes_of_values(problem_.program, tensors)) {
      schedule_.varying.push_back(axes.varying);
    }
  }

  // The combined axes run fastest, so that each result combines neighbours. Axes along which
  // nothing varies are walked only if they are combined.
  [[nodiscard]] Pass combining_pass(std::uint32_t kept, std::uint32_t combined,
                                    const std::vector<NodeId>& ids) const {
    std::vector<int> axes = axes_of(kept);
    Pass pass;
    set_axes(pass, axes);
    check_size(pass);
    for (const int axis : axes_of(combined)) {
      axes.push_back(axis);
      // If one axis has extent 0, the product of the others may overflow.
      if (__builtin_mul_overflow(pass.run, problem_.shape[axis], &pass.run)) pass.run = 0;
    }
    set_axes(pass, axes);
    check_size(pass);
    if (size(pass) == 0) pass.run = 0;
    std::vector<NodeId> wanted;
    for (const NodeId id : ids) wanted.push_back(nodes()[id].args[0]);
    pass.nodes = needed_by(wanted);
    return pass;
  }

  // Wider outputs first: the old value of an overwritten tensor is only read for outputs that span
  // as many axes, in the same pass, or more.
  void add_stores() {
    std::map<std::pair<std::ptrdiff_t, std::vector<int>>, std::vector<expr::Store>> groups;
    for (const expr::Store& store : problem_.program.stores) {
      std::vector<int> axes = axes_spanned(problem_.tensors[store.tensor]);
      const std::ptrdiff_t order = -std::ssize(axes);
      groups[{order, std::move(axes)}].push_back(store);
    }
    for (auto& [key, stores] : groups) {
      Pass pass;
      set_axes(pass, key.second);
      check_size(pass);
      std::vector<NodeId> wanted;
      for (const expr::Store& store : stores) wanted.push_back(store.value);
      pass.nodes = needed_by(wanted);
      pass.stores = std::move(stores);
      schedule_.stores.push_back(std::move(pass));
    }
  }

  void set_axes(Pass& pass, const std::vector<int>& axes) const {
    pass.axes = axes;
    pass.shape.clear();
    for (const int axis : axes) pass.shape.push_back(problem_.shape[axis]);
    if (pass.shape.empty()) pass.shape.push_back(1);
  }

  // The number of elements may fit only because another axis is empty.
  static void check_size(const Pass& pass) {
    if (std::ranges::find(pass.shape, 0) != pass.shape.end()) return;
    std::int64_t total = 1;
    for (const std::int64_t extent : pass.shape) {
      if (!__builtin_mul_overflow(total, extent, &total)) continue;
      throw Error(ErrorCode::unsupported,
                  "a value has more than 2^63-1 elements; use smaller extents");
    }
  }

  // Stops at reductions, scans and products, whose results are known by then.
  [[nodiscard]] std::vector<NodeId> needed_by(const std::vector<NodeId>& wanted) const {
    std::vector<bool> needed(nodes().size(), false);
    for (const NodeId id : wanted) needed[static_cast<std::size_t>(id)] = true;
    std::vector<NodeId> ids;
    for (std::size_t id = nodes().size(); id-- > 0;) {
      if (!needed[id]) continue;
      ids.push_back(static_cast<NodeId>(id));
      if (is_known_before(nodes()[id].op)) continue;
      for (const NodeId arg : nodes()[id].args) {
        if (arg != kNoNode) needed[static_cast<std::size_t>(arg)] = true;
      }
    }
    std::ranges::reverse(ids);
    return ids;
  }

  const Problem& problem_;
  Schedule schedule_;
};

}  // namespace

bool is_known_before(expr::Op op) noexcept {
  return expr::combines_elements(op) || op == expr::Op::matmul;
}

std::int64_t size(const Pass& pass) noexcept {
  return count_elements(pass.shape);
}

Schedule make_schedule(const Problem& problem) {
  return Scheduler(problem).run();
}

std::vector<ModeLeaves> modes_in_order(const Pass& pass, const std::vector<ModeLeaves>& of) {
  std::vector<ModeLeaves> modes;
  for (const int axis : pass.axes) modes.push_back(of[axis]);
  if (modes.empty()) modes.emplace_back();
  return modes;
}

}  // namespace tilejit::reference
