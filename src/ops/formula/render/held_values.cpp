#include "render/held_values.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "expr/traits.hpp"
#include "rows/column_shape.hpp"
#include "rows/row_threads.hpp"
#include "rows/rows.hpp"

namespace tilejit::render {
namespace {

using expr::kNoNode;
using expr::Node;
using expr::NodeId;

// Values of a thread of large blocks, of which a multiprocessor then has two.
constexpr int kMostOfLargeBlock = 16;
constexpr int kLargeBlock = 512;  // threads
constexpr int kHeavyOfChunk = 8;  // instructions of an element that scans would compute twice
// Registers for values of a column, two for each: of threads that hold its elements, and of others.
constexpr int kMostOfColumnHeld = 8, kMostOfColumn = 32;
constexpr int kWord = 4;

/// Per node, how many passes need it, including the one that stores.
std::vector<int> passes_with_stores(const plan::Plan& plan, const Passes& passes) {
  std::vector<int> passes_of = passes_that_need(plan, passes);
  std::vector<NodeId> stored;
  for (const expr::Store& store : plan.program.stores) {
    const auto& operand = plan.operands[static_cast<std::size_t>(store.tensor)];
    if (!operand.per_row && !passes.is_result(plan.program, store.value))
      stored.push_back(store.value);
  }
  const std::vector<bool> needed = passes.needed_for(plan.program, stored);
  for (std::size_t i = 0; i < needed.size(); ++i) passes_of[i] += needed[i];
  return passes_of;
}

/// Whether the node's code has branches in single precision. The compiler computes what follows a
/// branch again for each pass.
bool has_branches(const Node& node) {
  return expr::is_trigonometric(node.op);
}

/// Whether a thread loads all its vectors of a row before it computes anything, and has registers
/// for values instead.
bool may_hold_values(const plan::Plan& plan, const Passes& passes) {
  const plan::Rows* const rows = plan::rows_of(plan);
  if (rows == nullptr || rows->splits != 1 || rows->ahead || rows->register_vectors == 0)
    return false;
  // Reductions before a scan are passes that have not held anything.
  if (std::holds_alternative<plan::Scan>(plan.family)) return rows->along() && passes.count == 0;
  if (plan::direction_of(plan)) return false;
  const bool staged = std::holds_alternative<plan::StagedRows>(plan.family);
  return std::holds_alternative<plan::Rows>(plan.family) || (staged && rows->along());
}

/// Whether a pass computes its values under conditions, so that the compiler does not know that
/// another pass has computed them.
bool computes_under_conditions(const plan::Plan& plan, const Passes& passes) {
  const plan::Rows& rows = *plan::rows_of(plan);
  const bool whole =
      plan::vectors_in_row(plan, rows) == plan::threads_of_row(rows) * rows.register_vectors;
  return (!whole || plan.ragged) && !computes_always(plan, rows, passes);
}

/// Instructions of the node, of which functions of 16-bit values have a few.
int cost_with_approximation(const Node& node) {
  return expr::approximation(node).empty()
             ? cost_of(node)
             : plan::kPlainOfSpecial + expr::traits(node.op).cost.narrow;
}

/// Whether each pass that needs the operand loads it in aligned chunks and shifts it.
bool is_shifted_in_passes(const plan::Operand& operand) {
  return operand.read && operand.every_row && operand.shifted;
}

/// Whether the passes that need a value also need an input that each of them would shift.
bool needs_shifted(const plan::Plan& plan, const std::vector<int>& passes_of,
                   const std::vector<bool>& shared) {
  const std::vector<Node>& nodes = plan.program.nodes;
  std::vector<bool> needed(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!shared[i]) continue;
    for (const NodeId arg : nodes[i].args) {
      if (arg != kNoNode) needed[static_cast<std::size_t>(arg)] = true;
    }
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (needed[i] && nodes[i].op == expr::Op::load && passes_of[i] > 1 &&
        is_shifted_in_passes(plan.operands[static_cast<std::size_t>(nodes[i].source)]))
      return true;
  }
  return false;
}

/// Per node: whether a thread could compute it as soon as its vectors are loaded, and several
/// passes need it.
std::vector<bool> shared_values(const plan::Plan& plan, const Passes& passes,
                                const std::vector<int>& passes_of) {
  const std::vector<Node>& nodes = plan.program.nodes;
  std::vector<bool> of_vector(nodes.size(), true), shared(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    of_vector[i] = node.op != expr::Op::index && !expr::is_reduction(node.op);
    if (node.op == expr::Op::load) {
      const auto& operand = plan.operands[static_cast<std::size_t>(node.source)];
      of_vector[i] = plan::is_loaded_with_row(plan, *plan::rows_of(plan), operand) ||
                     is_shifted_in_passes(operand);
    }
    for (const NodeId arg : node.args)
      of_vector[i] = of_vector[i] && (arg == kNoNode || of_vector[static_cast<std::size_t>(arg)]);
    shared[i] = passes_of[i] > 1 && passes.in_row[i] && of_vector[i] && node.op != expr::Op::load &&
                expr::compute_type(node.type) == "float";
  }
  return shared;
}

/// Per node: whether it needs an input that each pass loads for itself.
std::vector<bool> needs_loads_of_passes(const plan::Plan& plan) {
  const std::vector<Node>& nodes = plan.program.nodes;
  std::vector<bool> needs(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    needs[i] = nodes[i].op == expr::Op::load &&
               !plan::is_loaded_with_row(plan, *plan::rows_of(plan),
                                         plan.operands[static_cast<std::size_t>(nodes[i].source)]);
    for (const NodeId arg : nodes[i].args)
      needs[i] = needs[i] || (arg != kNoNode && needs[static_cast<std::size_t>(arg)]);
  }
  return needs;
}

/// The last of the values that are `shared`: those that something else is made of.
std::vector<bool> last_of_shared(const plan::Plan& plan, const std::vector<int>& passes_of,
                                 const std::vector<bool>& shared) {
  const std::vector<Node>& nodes = plan.program.nodes;
  std::vector<bool> last(nodes.size());
  const auto ask = [&](NodeId id) {
    if (id != kNoNode && shared[static_cast<std::size_t>(id)])
      last[static_cast<std::size_t>(id)] = true;
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool combines = expr::is_reduction(nodes[i].op) || expr::is_scan(nodes[i].op);
    const bool needs = combines || passes_of[i] > 0;
    if (!shared[i] && needs) std::ranges::for_each(nodes[i].args, ask);
  }
  for (const expr::Store& store : plan.program.stores) ask(store.value);
  return last;
}

/// Whether threads have columns, with what is the same in all of a column.
bool has_values_of_rows(const plan::Plan& plan) {
  const auto* const rows = std::get_if<plan::Rows>(&plan.family);
  return rows != nullptr && !rows->along();
}

/// Per node: whether it is made of inputs that are the same in all of a column, and does not count
/// its elements.
std::vector<bool> values_of_rows(const plan::Plan& plan, const Passes& passes) {
  const std::vector<Node>& nodes = plan.program.nodes;
  std::vector<bool> of_row(nodes.size()), counts(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    bool made_of_inputs = node.op == expr::Op::load;
    counts[i] = node.op == expr::Op::index || expr::is_reduction(node.op);
    for (const NodeId arg : node.args) {
      if (arg == kNoNode) continue;
      const auto a = static_cast<std::size_t>(arg);
      counts[i] = counts[i] || counts[a];
      made_of_inputs = made_of_inputs || of_row[a];
    }
    of_row[i] = made_of_inputs && !counts[i] && !passes.in_row[i];
  }
  return of_row;
}

/// Columns have what all their elements need of their own inputs once per thread. If it holds these
/// elements, what only the pass that stores needs would take registers from them for long.
void hold_values_of_rows(const plan::Plan& plan, Passes& passes) {
  const std::vector<Node>& nodes = plan.program.nodes;
  const std::vector<bool> of_row = values_of_rows(plan, passes);
  const std::vector<int> passes_of = passes_that_need(plan, passes);
  const bool holds_elements = plan::rows_of(plan)->register_vectors > 0;
  std::vector<bool> held(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool folded = passes_of[i] > 0 || expr::is_reduction(nodes[i].op);
    if (of_row[i] || (holds_elements && !folded)) continue;
    for (const NodeId arg : nodes[i].args) {
      if (arg == kNoNode || !of_row[static_cast<std::size_t>(arg)]) continue;
      const Node& value = nodes[static_cast<std::size_t>(arg)];
      const bool as_loaded = value.op == expr::Op::load && size_bytes(value.type) >= kWord;
      if (!as_loaded && expr::compute_type(value.type) == "float")
        held[static_cast<std::size_t>(arg)] = true;
    }
  }
  const auto registers = 2 * std::ranges::count(held, true) * plan.vector;
  const bool are_few = registers <= (holds_elements ? kMostOfColumnHeld : kMostOfColumn);
  if (!are_few || registers == 0) return;
  passes.held = std::move(held);
  passes.held_of_rows = true;
}

/// Threads hold what several passes would compute again, if it follows a branch. Passes along rows
/// also do so behind conditions, which those of columns hardly have.
void hold_values_of_elements(const plan::Plan& plan, Passes& passes) {
  const std::vector<Node>& nodes = plan.program.nodes;
  const std::vector<int> passes_of = passes_with_stores(plan, passes);
  const std::vector<bool> shared = shared_values(plan, passes, passes_of);
  int cost = 0;
  bool branches = false;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!shared[i]) continue;
    cost += cost_with_approximation(nodes[i]);
    branches = branches || has_branches(nodes[i]);
  }
  const bool heavy = cost >= kHeavyValues && computes_under_conditions(plan, passes);
  const bool along = plan::rows_of(plan)->along();
  if (!branches && !(along && (heavy || needs_shifted(plan, passes_of, shared)))) return;
  std::vector<bool> held = last_of_shared(plan, passes_of, shared);
  const auto elements = plan::rows_of(plan)->register_vectors * plan.vector;
  const int of_large = branches ? kMostOfLargeBlock : 0;
  const int most = plan.threads < kLargeBlock ? plan::kMostHeldValues : of_large;
  if (std::ranges::count(held, true) * elements <= most) passes.held = std::move(held);
}

/// Whether anything but shared values, which threads may hold instead, is made of a row's inputs.
bool needs_inputs_besides(const plan::Plan& plan, const std::vector<bool>& shared) {
  const std::vector<Node>& nodes = plan.program.nodes;
  const auto is_input = [&](NodeId id) {
    if (id == kNoNode || nodes[static_cast<std::size_t>(id)].op != expr::Op::load) return false;
    const auto source = static_cast<std::size_t>(nodes[static_cast<std::size_t>(id)].source);
    return plan::varies_in_row(plan.operands[source], *plan::rows_of(plan));
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!shared[i] && std::ranges::any_of(nodes[i].args, is_input)) return true;
  }
  return std::ranges::any_of(plan.program.stores,
                             [&](const expr::Store& store) { return is_input(store.value); });
}

/// Threads of scanned columns hold what conditions would have them compute twice, for the totals of
/// a chunk and for its places, in place of the inputs, if that takes no more registers than these.
void hold_values_of_chunks(const plan::Plan& plan, Passes& passes) {
  const auto* const scan = std::get_if<plan::Scan>(&plan.family);
  if (scan == nullptr || scan->along() || scan->row_threads == 1 || scan->splits > 1 ||
      passes.count > 0 || !computes_under_conditions(plan, passes))
    return;
  const std::vector<Node>& nodes = plan.program.nodes;
  const std::vector<int> passes_of = passes_with_stores(plan, passes);
  const std::vector<bool> shared = shared_values(plan, passes, passes_of);
  int cost = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    cost += shared[i] ? cost_with_approximation(nodes[i]) : 0;
  if (cost < kHeavyOfChunk) return;
  if (needs_inputs_besides(plan, shared)) return;
  std::vector<bool> held = last_of_shared(plan, passes_of, shared);
  if (std::ranges::count(held, true) * plan.vector <= plan::registers_of_held(plan, *scan))
    passes.held = std::move(held);
}

}  // namespace

bool shares_values(const plan::Plan& plan, const Passes& passes) {
  const std::vector<Node>& nodes = plan.program.nodes;
  const std::vector<int> passes_of = passes_with_stores(plan, passes);
  const std::vector<bool> again = needs_loads_of_passes(plan);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool shared = passes_of[i] > 1 && passes.in_row[i] && passes.level[i] == 0 && !again[i];
    if (shared && cost_of(nodes[i]) > 0) return true;
  }
  return false;
}

void find_held(const plan::Plan& plan, Passes& passes) {
  if (may_hold_values(plan, passes)) hold_values_of_elements(plan, passes);
  hold_values_of_chunks(plan, passes);
  if (passes.held.empty() && has_values_of_rows(plan)) hold_values_of_rows(plan, passes);
}

}  // namespace tilejit::render
