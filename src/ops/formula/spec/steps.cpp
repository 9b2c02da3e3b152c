#include "formula/steps.hpp"

#include <algorithm>
#include <utility>

#include "formula/drafts.hpp"
#include "formula/product.hpp"

namespace tilejit::formula {
namespace {

using expr::kNoNode;
using expr::Node;
using expr::NodeId;

std::size_t index_of(int number) {
  return static_cast<std::size_t>(number);
}

/// Makes drafts into steps.
class StepMaker {
 public:
  StepMaker(const Fused& op, const expr::Tree& tree, const Drafts& drafts, Analysis& analysis)
      : op_(op), tree_(tree), drafts_(drafts), analysis_(analysis) {}

  void run() {
    number_results();
    for (const Draft& draft : drafts_.drafts()) check_spaces(draft);
    for (const Draft& draft : drafts_.drafts()) analysis_.steps.push_back(make(draft));
    for (std::size_t t = 0; t < op_.tensors.size(); ++t) resolve_access(static_cast<int>(t));
    join_programs();
  }

 private:
  /// Leaves results out that no step writes any more.
  void number_results() {
    const int tensors = static_cast<int>(op_.tensors.size());
    for (std::size_t r = 0; r < drafts_.results().size(); ++r) {
      const int memory = tensors + static_cast<int>(r);
      const bool used = std::ranges::any_of(drafts_.drafts(), [&](const Draft& draft) {
        return std::ranges::count(draft.stores, memory, &expr::Store::tensor) != 0;
      });
      numbers_.push_back(tensors + static_cast<int>(analysis_.results.size()));
      if (!used) continue;
      StepResult result = drafts_.results()[r];
      result.name += std::to_string(analysis_.results.size());
      analysis_.results.push_back(std::move(result));
    }
  }

  [[nodiscard]] int number_of(int memory) const {
    const int tensors = static_cast<int>(op_.tensors.size());
    return memory < tensors ? memory : numbers_[index_of(memory - tensors)];
  }

  /// Axes that are written once must stand in one space.
  void check_spaces(const Draft& draft) {
    const expr::TreeSlice slice = drafts_.slice_of(draft);
    const std::vector<bool> needed = needed_by(tree_, slice);
    for (std::size_t i = 0; i < needed.size(); ++i) {
      const Node& node = tree_.nodes[i];
      if (!needed[i] || slice.sources[i] >= 0 || node.axes == 0) continue;
      const auto [known, is_new] = spaces_.emplace(node.axes, draft.shape);
      if (known->second == draft.shape) continue;
      const expr::Place& place = tree_.axes[node.axes - 1].place;
      const std::string_view name = to_string(node.op);
      expr::fail_at(place, "this counts the axes of its space and is used in two, " +
                               text_of(known->second) + " and " + text_of(draft.shape) +
                               ": write it twice, under two names (" + std::string(name) + ")");
    }
  }

  Step make(const Draft& draft) {
    Step step{.op = {.name = op_.name, .symbols = op_.symbols, .scalars = op_.scalars},
              .analysis = {},
              .tensors = {},
              .why = draft.why};
    sources_.clear();
    if (draft.product != kNoNode) {
      add_tensor(step, draft.a);
      add_tensor(step, draft.b);
      step.op.tensors[0].dtype = draft.a.dtype;
      step.op.tensors[1].dtype = draft.b.dtype;
    }
    const std::size_t first = step.tensors.size();
    expr::TreeSlice slice = drafts_.slice_of(draft);
    for (const auto& [leaf, source] : draft.leaves)
      slice.sources[index_of(leaf)] = tensor_of(step, source, first);
    for (expr::Store& store : slice.stores) {
      const Source target{.memory = store.tensor};
      store.tensor = tensor_of(step, target, first);
    }
    step.analysis = analyze_step(step.op, program_of(tree_, slice), draft.shape);
    step.analysis.symbols = analysis_.symbols;
    return step;
  }

  /// The step's number of a tensor as `source` reads or writes it, from `first` on.
  int tensor_of(Step& step, const Source& source, std::size_t first) {
    for (std::size_t i = first; i < sources_.size(); ++i) {
      if (sources_[i].memory == source.memory && sources_[i].transposed == source.transposed)
        return static_cast<int>(i);
    }
    add_tensor(step, source);
    return static_cast<int>(step.tensors.size()) - 1;
  }

  void add_tensor(Step& step, const Source& source) {
    const int number = number_of(source.memory);
    const auto tensors = op_.tensors.size();
    Tensor tensor;
    if (index_of(number) < tensors) {
      tensor = op_.tensors[index_of(number)];
    } else {
      const StepResult& result = analysis_.results[index_of(number) - tensors];
      std::vector<IntTuple> extents(result.shape.begin(), result.shape.end());
      tensor = {.name = result.name,
                .dtype = result.dtype,
                .layout = row_major(IntTuple::tuple(extents))};
    }
    tensor.access = Access::automatic;
    if (source.transposed) tensor.layout = transposed(tensor.layout);
    step.op.tensors.push_back(std::move(tensor));
    step.tensors.push_back(number);
    sources_.push_back(source);
  }

  void resolve_access(int tensor) {
    bool written = false, read = false;
    for (std::size_t s = 0; s < analysis_.steps.size(); ++s) {
      const Step& step = analysis_.steps[s];
      for (std::size_t i = 0; i < step.tensors.size(); ++i) {
        if (step.tensors[i] != tensor) continue;
        const Access access = step.analysis.access[i];
        // What is read after it has been written is no input.
        read = read || (access != Access::out && !written);
        written = written || access != Access::in;
      }
    }
    analysis_.access.push_back(written ? (read ? Access::inout : Access::out) : Access::in);
  }

  /// The programs of all steps as one; what a step leaves for another is its value there.
  void join_programs() {
    expr::Program& whole = analysis_.program;
    std::vector<NodeId> values(op_.tensors.size() + analysis_.results.size(), kNoNode);
    for (const Step& step : analysis_.steps) {
      std::vector<NodeId> ids;
      for (Node node : step.analysis.program.nodes) {
        for (NodeId& arg : node.args) {
          if (arg != kNoNode) arg = ids[index_of(arg)];
        }
        if (node.op == expr::Op::load) {
          node.source = step.tensors[index_of(node.source)];
          if (const NodeId value = values[index_of(node.source)]; value != kNoNode) {
            ids.push_back(value);
            continue;
          }
        }
        ids.push_back(static_cast<NodeId>(whole.nodes.size()));
        whole.nodes.push_back(node);
      }
      for (const expr::Store& store : step.analysis.program.stores) {
        const int number = step.tensors[index_of(store.tensor)];
        values[index_of(number)] = ids[index_of(store.value)];
        if (index_of(number) < op_.tensors.size())
          whole.stores.push_back({number, ids[index_of(store.value)]});
      }
    }
  }

  const Fused& op_;
  const expr::Tree& tree_;
  const Drafts& drafts_;
  Analysis& analysis_;
  std::vector<int> numbers_;     // of results, among tensors and the results that are used
  std::vector<Source> sources_;  // of the step that is being made, one per tensor
  std::map<std::uint32_t, Extents> spaces_;  // in which axes stand
};

}  // namespace

void make_steps(const Fused& op, expr::Tree& tree, Analysis& analysis) {
  std::map<expr::NodeId, Factor> factors = move_factors(op, tree);
  Drafts drafts(op, tree, std::move(factors));
  drafts.make();
  StepMaker(op, tree, drafts, analysis).run();
}

}  // namespace tilejit::formula
