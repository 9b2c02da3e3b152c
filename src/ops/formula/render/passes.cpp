#include "render/passes.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "expr/traits.hpp"
#include "render/held_values.hpp"
#include "rows/row_threads.hpp"
#include "rows/rows.hpp"

namespace tilejit::render {
namespace {

using expr::kNoNode;
using expr::Node;
using expr::NodeId;

bool is_scan_of(const Node& scan, const Node& reduction) {
  static constexpr std::pair<expr::Op, expr::Op> kPairs[] = {
      {expr::Op::reduce_sum, expr::Op::scan_sum},
      {expr::Op::reduce_prod, expr::Op::scan_prod},
      {expr::Op::reduce_min, expr::Op::scan_min},
      {expr::Op::reduce_max, expr::Op::scan_max}};
  return std::ranges::find(kPairs, std::pair(reduction.op, scan.op)) != std::end(kPairs) &&
         scan.args == reduction.args && scan.axes == reduction.axes && scan.type == reduction.type;
}

/// Whether each node is made of node `id`.
std::vector<bool> users_of(const std::vector<Node>& nodes, NodeId id) {
  std::vector<bool> uses(nodes.size(), false);
  uses[static_cast<std::size_t>(id)] = true;
  for (std::size_t i = 0; i < nodes.size(); ++i) {  // operands come before their users
    for (const NodeId arg : nodes[i].args) {
      if (arg != kNoNode && uses[static_cast<std::size_t>(arg)]) uses[i] = true;
    }
  }
  uses[static_cast<std::size_t>(id)] = false;
  return uses;
}

/// Finds reductions whose result is the total of a scan of the same values. They are known only
/// after the scan, so nothing before it may need them.
void find_totals(const plan::Plan& plan, Passes& passes) {
  const std::vector<Node>& nodes = plan.program.nodes;
  passes.totals.resize(nodes.size(), kNoNode);
  if (!plan::direction_of(plan) || plan::rows_of(plan)->register_vectors == 0) return;
  std::vector<bool> behind(nodes.size(), false);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto scan =
        std::ranges::find_if(nodes, [&](const Node& node) { return is_scan_of(node, nodes[i]); });
    if (scan == nodes.end()) continue;
    const std::vector<bool> users = users_of(nodes, static_cast<NodeId>(i));
    bool is_folded = false;
    for (std::size_t n = 0; n < nodes.size(); ++n)
      is_folded = is_folded || (users[n] && expr::combines_elements(nodes[n].op));
    if (is_folded) continue;
    passes.totals[i] = static_cast<NodeId>(scan - nodes.begin());
    behind[i] = true;
    for (std::size_t n = 0; n < nodes.size(); ++n) behind[n] = behind[n] || users[n];
  }
  int before = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!behind[i]) before = std::max(before, passes.level[i]);
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (behind[i]) passes.level[i] = before + 1;
  }
  passes.count = before;
}

}  // namespace

Passes find_passes(const plan::Plan& plan) {
  Passes passes;
  const plan::Rows* const rows = plan::rows_of(plan);
  if (rows == nullptr) return passes;
  const std::vector<Node>& nodes = plan.program.nodes;
  std::vector<bool> uniform;  // per node: made only of results and constants
  // Reading a row that is held in registers twice costs nothing, and with two passes its
  // exponentials are computed only once.
  const bool rescales = rows->register_vectors == 0 && !plan::is_light(plan);
  passes.sums = rescales ? plan::joined_sums(plan) : std::vector<expr::JoinedSum>(nodes.size());
  passes.level = expr::passes_before(plan.program, passes.sums);
  passes.count = std::ranges::max(passes.level);
  passes.hoisted.resize(nodes.size(), false);
  for (const Node& node : nodes) {
    const bool reduction = expr::is_reduction(node.op);
    bool in_row = node.op == expr::Op::load &&
                  plan::varies_in_row(plan.operands[static_cast<std::size_t>(node.source)], *rows);
    bool of_results =
        node.op != expr::Op::load && node.op != expr::Op::index && !expr::is_scan(node.op);
    for (const NodeId arg : node.args) {
      if (arg == kNoNode) continue;
      const auto a = static_cast<std::size_t>(arg);
      in_row = in_row || passes.in_row[a];
      of_results = of_results && uniform[a];
    }
    passes.in_row.push_back(in_row && !reduction);
    uniform.push_back(reduction || of_results);
    if (!reduction && of_results) continue;
    for (const NodeId arg : node.args) {  // values of elements ask for these
      if (arg == kNoNode) continue;
      const auto a = static_cast<std::size_t>(arg);
      if (uniform[a] && passes.level[a] > 0 && !expr::is_reduction(nodes[a].op))
        passes.hoisted[a] = true;
    }
  }
  find_totals(plan, passes);
  find_held(plan, passes);
  return passes;
}

int cost_of(const Node& node) {
  const expr::Cost& one = expr::traits(node.op).cost;
  return one.plain + plan::kPlainOfSpecial * one.special;
}

std::vector<int> passes_that_need(const plan::Plan& plan, const Passes& passes) {
  std::vector<int> passes_of(plan.program.nodes.size(), 0);
  const auto need = [&](const std::vector<bool>& needed) {
    for (std::size_t i = 0; i < needed.size(); ++i) passes_of[i] += needed[i];
  };
  for (int pass = 0; pass < passes.count; ++pass) {
    need(passes.needed_for(plan.program, passes.folded(plan.program, pass)));
    if (!passes.rescaled(plan.program, pass).empty())
      need(passes.needed_for_rescaled(plan.program, pass));
  }
  if (std::holds_alternative<plan::Scan>(plan.family)) {  // the totals of a chunk, and its places
    const std::vector<bool> scanned = passes.needed_for(plan.program, Passes::scans(plan.program));
    need(scanned);
    need(scanned);
  }
  return passes_of;
}

namespace {

constexpr int kManyElements = 8;  // of a vector, whose code a pass has twice
// Warps that a run fills, two of which have its ends: if all do, and if a quarter or more do and
// then go through both codes of a pass.
constexpr int kFewWarps = 2, kManyWarps = 8;

/// Whether a run has so few vectors that it fills less than `warps` warps, two of which have its
/// ends. Branches around what does not exist are then taken both ways.
bool has_ends_in_warps(const plan::Plan& plan, int warps) {
  const Dim& run = plan.extents.front();
  return run.is_known() && run.value() < std::int64_t{warps} * plan::kWarp * plan.vector;
}

/// Whether the node makes a float of a whole number.
bool converts(const plan::Plan& plan, const Node& node) {
  if (node.op != expr::Op::load && node.op != expr::Op::cast) return false;
  const DType from = node.op == expr::Op::load
                         ? plan.operands[static_cast<std::size_t>(node.source)].dtype
                         : plan.program.nodes[static_cast<std::size_t>(node.args[0])].type;
  return is_floating(node.type) && !is_floating(from);
}

/// Instructions for the values that the passes fold of one element of a row.
int cost_of_element(const plan::Plan& plan, const Passes& passes) {
  const std::vector<Node>& nodes = plan.program.nodes;
  const std::vector<int> passes_of = passes_that_need(plan, passes);
  int cost = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!passes.in_row[i]) continue;
    const bool moves = nodes[i].op == expr::Op::load || nodes[i].op == expr::Op::cast;
    const int own = moves ? 0 : cost_of(nodes[i]);
    cost += passes_of[i] * (own + (converts(plan, nodes[i]) ? plan::kPlainOfSpecial : 0));
  }
  return cost;
}

/// Whether it is faster to compute what is beyond the ends of peeled rows, and to drop it, than to
/// branch around it: warps would branch both ways, or a thread's elements would wait for each
/// other. Places ask for nothing but an element itself, and rows that are stored have no registers
/// left.
bool drops_ends(const plan::Plan& plan, const plan::Rows& rows, const Passes& passes) {
  if (has_ends_in_warps(plan, kFewWarps) && rows.count > 1) return true;
  if (!std::holds_alternative<plan::Rows>(plan.family)) return false;
  const int cost = cost_of_element(plan, passes);
  const bool has_two_codes = plan.vector >= kManyElements;
  if (has_ends_in_warps(plan, has_two_codes ? kManyWarps : kFewWarps))
    return cost > 0 && !plan::writes_elements(plan);
  return !has_two_codes && cost >= kHeavyValues;
}

constexpr int kMostOfStoredValues = 50;  // registers

/// Whether the pass that stores peeled rows would compute heavy values again because of conditions
/// in another pass. Threads must have registers for the vectors that they hold, for the values of
/// all of their elements, and for a vector that they store. One or two warps that share a row have
/// its ends; most of more warps do not branch both ways.
bool stores_heavy_values(const plan::Plan& plan, const plan::Rows& rows, const Passes& passes) {
  if (!std::holds_alternative<plan::Rows>(plan.family) || !plan::writes_elements(plan) ||
      rows.register_vectors == 0 || rows.row_threads > 2 * plan::kWarp || passes.count == 1)
    return false;
  const int of_vector = plan::registers_of_vector(plan, rows) + plan.vector;
  return cost_of_element(plan, passes) >= kHeavyValues &&
         rows.register_vectors * of_vector + plan.vector <= kMostOfStoredValues;
}

}  // namespace

bool computes_always(const plan::Plan& plan, const plan::Rows& rows, const Passes& passes) {
  const bool scans = std::holds_alternative<plan::Scan>(plan.family);
  if (!scans && !std::holds_alternative<plan::Rows>(plan.family)) return false;
  // Before a row that is gone through backwards, a vector may lie before its tensor.
  if (plan.peeled && plan::direction_of(plan) == plan::Direction::backward) return false;
  const bool whole =
      plan::vectors_in_row(plan, rows) == plan::threads_of_row(rows) * rows.register_vectors;
  if (whole && !(rows.along() && plan.ragged)) return false;  // nothing is conditional
  if (plan.peeled && drops_ends(plan, rows, passes)) return true;
  if (plan.peeled && stores_heavy_values(plan, rows, passes)) return true;
  bool rescales = false;
  for (int pass = 0; pass < passes.count; ++pass)
    rescales = rescales || !passes.rescaled(plan.program, pass).empty();
  if (rows.register_vectors == 0 && !rescales && !scans) return false;
  const std::vector<Node>& nodes = plan.program.nodes;
  const std::vector<int> passes_of = passes_that_need(plan, passes);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (passes_of[i] == 0 || !passes.in_row[i]) continue;
    // What a pass loads for itself may lie beyond the tensor's end, unless vectors know theirs.
    if (nodes[i].op == expr::Op::load && !(rows.along() && plan.ragged && !plan.peeled) &&
        !plan::is_loaded_with_row(plan, rows,
                                  plan.operands[static_cast<std::size_t>(nodes[i].source)]))
      return false;
  }
  return cost_of_shared_values(plan, passes) >= kHeavyValues;
}

int cost_of_shared_values(const plan::Plan& plan, const Passes& passes) {
  const std::vector<Node>& nodes = plan.program.nodes;
  const std::vector<int> passes_of = passes_that_need(plan, passes);
  int cost = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool shared = passes_of[i] > 1 && passes.in_row[i] && passes.level[i] == 0;
    if (shared) cost += cost_of(nodes[i]);
  }
  return cost;
}

std::vector<NodeId> Passes::reductions(const expr::Program& program, int pass) const {
  std::vector<NodeId> found;
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    if (expr::is_reduction(program.nodes[i].op) && level[i] == pass + 1) {
      found.push_back(static_cast<NodeId>(i));
    }
  }
  return found;
}

std::vector<NodeId> Passes::folded(const expr::Program& program, int pass) const {
  std::vector<NodeId> found = reductions(program, pass);
  std::erase_if(found, [&](NodeId id) { return is_rescaled(id) || is_centred(id); });
  return found;
}

std::vector<NodeId> Passes::rescaled(const expr::Program& program, int pass) const {
  std::vector<NodeId> found = reductions(program, pass);
  std::erase_if(found, [&](NodeId id) { return !is_rescaled(id); });
  return found;
}

std::vector<NodeId> Passes::centred(const expr::Program& program, int pass) const {
  std::vector<NodeId> found = reductions(program, pass);
  std::erase_if(found, [&](NodeId id) { return !is_centred(id); });
  return found;
}

std::vector<NodeId> Passes::centres(const expr::Program& program, int pass) const {
  std::vector<NodeId> found;
  for (const NodeId id : centred(program, pass)) {
    const NodeId total = sums[static_cast<std::size_t>(id)].total;
    if (std::ranges::count(found, total) == 0) found.push_back(total);
  }
  return found;
}

std::vector<NodeId> Passes::hoisted_at(int pass) const {
  std::vector<NodeId> found;
  for (std::size_t i = 0; i < hoisted.size(); ++i) {
    if (hoisted[i] && level[i] == pass + 1) found.push_back(static_cast<NodeId>(i));
  }
  return found;
}

std::vector<NodeId> Passes::scans(const expr::Program& program) {
  std::vector<NodeId> found;
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    if (expr::is_scan(program.nodes[i].op)) found.push_back(static_cast<NodeId>(i));
  }
  return found;
}

bool Passes::is_result(const expr::Program& program, NodeId id) const {
  const auto i = static_cast<std::size_t>(id);
  return expr::is_reduction(program.nodes[i].op) || (!hoisted.empty() && hoisted[i]);
}

std::vector<bool> Passes::needed_for(const expr::Program& program,
                                     const std::vector<NodeId>& roots) const {
  std::vector<bool> needed(program.nodes.size(), false);
  const auto need_args = [&](NodeId id) {
    for (const NodeId arg : program.nodes[static_cast<std::size_t>(id)].args) {
      if (arg != kNoNode) needed[static_cast<std::size_t>(arg)] = true;
    }
  };
  for (const NodeId root : roots) {
    const Node& node = program.nodes[static_cast<std::size_t>(root)];
    if (is_result(program, root) || expr::is_scan(node.op)) {
      need_args(root);
    } else {
      needed[static_cast<std::size_t>(root)] = true;
    }
  }
  for (std::size_t i = program.nodes.size(); i-- > 0;) {  // operands come before their users
    const auto id = static_cast<NodeId>(i);
    if (needed[i] && !is_held(id) && !is_result(program, id)) need_args(id);
  }
  return needed;
}

std::vector<NodeId> Passes::held_nodes() const {
  std::vector<NodeId> found;
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (held[i]) found.push_back(static_cast<NodeId>(i));
  }
  return found;
}

Passes Passes::without_held() const {
  Passes passes = *this;
  passes.held.clear();
  return passes;
}

std::vector<bool> Passes::needed_for_held(const expr::Program& program) const {
  return without_held().needed_for(program, held_nodes());
}

std::vector<bool> Passes::needed_for_rescaled(const expr::Program& program, int pass) const {
  Passes computing = *this;
  for (const NodeId id : hoisted_at(pass)) computing.hoisted[static_cast<std::size_t>(id)] = false;
  return computing.needed_for(program, rescaled(program, pass));
}

}  // namespace tilejit::render
