#include "figures/demand.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/integer.hpp"
#include "device/access.hpp"
#include "expr/traits.hpp"
#include "figures/value.hpp"
#include "plan/crossed.hpp"
#include "plan/sectors.hpp"
#include "rows/rows.hpp"
#include "rows/turned.hpp"
#include "rows/turned_inputs.hpp"
#include "staged/runs.hpp"

namespace tilejit::figures {
namespace {

using expr::kNoNode;
using expr::Node;
using expr::NodeId;
using plan::Operand;
using plan::Plan;
using plan::Reach;

constexpr double kSector = 32, kWord = 4;
constexpr double kBytesOfCut = 120;         // that memory moves to complete a sector
constexpr double kSectorsOfStore = 11.5;    // that are asked for while lanes store one
constexpr double kLessByApproximation = 5;  // instructions of a function for 16-bit results
constexpr int kPlaceInstructions = 4;       // to compare a value, and to keep its place
constexpr int kScanInstructions = 6;        // in a vector, and with what lies before it
constexpr int kOwnRegisters = 26;           // of a thread: addresses, counters
constexpr double kRegistersOfWord = 1.2;

std::size_t index(NodeId id) {
  return static_cast<std::size_t>(id);
}

/// Bytes of memory that holds an operand, in whole bursts, or sectors of what is written: runs of
/// neighbours, as far apart as the layout says.
double bytes_touched(const Operand& operand, const SymbolValues& symbols) {
  plan::Steps modes;
  for (std::size_t m = 0; m < operand.modes.size(); ++m) {
    for (const Mode& leaf : operand.modes[m]) {
      const auto extent = value_of(leaf.extent, symbols), stride = value_of(leaf.stride, symbols);
      if (extent.value_or(1) > 1 && stride.value_or(0) != 0) modes.emplace_back(*stride, *extent);
    }
  }
  double elements = 1;
  for (const auto& [stride, extent] : modes) elements *= static_cast<double>(extent);
  const std::int64_t unit = operand.written ? device::kSectorBytes : device::kBurstBytes;
  return elements * plan::bytes_in_units(std::move(modes), size_bytes(operand.dtype), unit);
}

/// Instructions of an element, in all passes.
class Instructions {
 public:
  Instructions(const Plan& plan, const plan::Rows* rows)
      : plan_(plan),
        nodes_(plan.program.nodes),
        held_(rows != nullptr && rows->register_vectors > 0),
        varies_(nodes_.size(), false),
        same_(std::holds_alternative<plan::Map>(plan.family) ? plan::same_in_vectors(plan)
                                                             : varies_) {
    const bool rescales = rows != nullptr && !held_ && !plan::is_light(plan);
    level_ =
        expr::passes_before(plan.program, rescales ? plan::joined_sums(plan)
                                                   : std::vector<expr::JoinedSum>(nodes_.size()));
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      bool of_element = nodes_[i].op == expr::Op::load || nodes_[i].op == expr::Op::index;
      for (const NodeId arg : nodes_[i].args)
        of_element = of_element || (arg != kNoNode && varies_[index(arg)]);
      varies_[i] = of_element && !expr::is_reduction(nodes_[i].op);
      if (expr::is_reduction(nodes_[i].op)) passes_ = std::max(passes_, level_[i]);
    }
  }

  void count(double& plain, double& special) {
    std::vector<bool> counted(nodes_.size(), false);
    for (int pass = 1; pass <= passes_ + 1; ++pass) {
      std::vector<bool> needed(nodes_.size(), false);
      for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (expr::is_reduction(nodes_[i].op) && level_[i] == pass)
          add_combination(i, needed, plain);
      }
      if (pass > passes_) add_outputs(needed);
      for (std::size_t i = nodes_.size(); i-- > 0;) {
        if (!needed[i]) continue;
        for (const NodeId arg : nodes_[i].args) need(arg, needed);
        // What is held, and needs no results, is computed once.
        if (held_ && level_[i] == 0 && counted[i]) continue;
        counted[i] = true;
        add_cost(nodes_[i], same_[i] ? 1.0 / plan_.vector : 1, plain, special);
      }
    }
  }
  [[nodiscard]] int passes() const { return passes_; }

 private:
  void need(NodeId id, std::vector<bool>& needed) const {
    if (id != kNoNode && varies_[index(id)]) needed[index(id)] = true;
  }
  void add_combination(std::size_t i, std::vector<bool>& needed, double& plain) const {
    need(nodes_[i].args[0], needed);
    plain += expr::finds_place(nodes_[i].op) ? kPlaceInstructions : 1;
  }
  void add_outputs(std::vector<bool>& needed) const {
    for (const expr::Store& store : plan_.program.stores) need(store.value, needed);
  }
  /// Adds the node's instructions, `share` of which an element needs.
  void add_cost(const Node& node, double share, double& plain, double& special) const {
    const expr::Traits& traits = expr::traits(node.op);
    const int wide = size_bytes(node.type) == 8 ? 2 : 1;
    // Both the totals of a chunk and its places ask for what is scanned.
    const int times = plan::direction_of(plan_) && !expr::is_scan(node.op) ? 2 : 1;
    double own = expr::is_scan(node.op) ? kScanInstructions : traits.cost.plain;
    if (!expr::approximation(node).empty())
      own = traits.cost.narrow > 0 ? traits.cost.narrow : std::max(2.0, own / kLessByApproximation);
    plain += share * times * wide * own;
    special += share * times * traits.cost.special;
  }

  const Plan& plan_;
  const std::vector<Node>& nodes_;
  bool held_;
  std::vector<int> level_;
  std::vector<bool> varies_;
  std::vector<bool> same_;  // in all of a vector
  int passes_ = 0;
};

/// Sectors of an output that two blocks write in parts.
double cut_sectors(const Plan& plan, const Operand& operand, double elements) {
  const std::int64_t strip = plan::strip_of(plan);
  if (!operand.written || operand.per_row || strip == 0 || !plan::cuts_sectors(plan, operand) ||
      !operand.modes.front()[0].stride.is(1))
    return 0;
  const std::int64_t extent = plan.extents.front().value();
  return elements / static_cast<double>(extent) *
         static_cast<double>(core::ceil_div(extent, strip) - 1);
}

bool has_full_outputs(const Plan& plan) {
  return std::ranges::any_of(plan.operands,
                             [](const Operand& o) { return o.written && !o.per_row; });
}

/// Memory instructions and the like, for an operand that `times` passes read.
void add_accesses(const Plan& plan, const Operand& operand, const OperandFigures& figures,
                  double elements, double times, Demand& demand) {
  const double bytes = size_bytes(operand.dtype);
  const double count = elements * times;
  if (operand.reach == Reach::broadcast) {
    demand.accesses += count / plan.vector;
    return;
  }
  const double of_access = std::max(1.0, operand.access_bytes / bytes);
  demand.accesses += count / of_access * (operand.shifted ? 2 : 1);
  // To shared memory, and from there.
  const auto* const staged = std::get_if<plan::StagedRows>(&plan.family);
  const bool gathered = staged != nullptr && plan::is_gathered(plan, *staged, operand);
  if (operand.reach == Reach::transposed || plan::passes_turned(plan, operand) ||
      plan::comes_turned(plan, operand) || gathered)
    demand.accesses += 2 * count / of_access;
  const double words = count * std::max(1.0, operand.access_bytes / kWord) / of_access;
  if (operand.shifted) demand.shifted_words += 2 * words;
  const bool in_box = std::holds_alternative<plan::Box>(plan.family);  // by elements
  if (plan.peeled && !in_box && operand.reach == Reach::contiguous)
    demand.shifted_words += words / 2;
  const double ratio = figures.sectors ? figures.sectors->ratio() : 1;
  demand.sectors += count * bytes / kSector * ratio;
}

/// What threads of a row wait for, one thing after another.
void add_waits(const Plan& plan, const plan::Rows& rows, int passes, Demand& demand) {
  const auto vectors = plan::vectors_in_row(plan, rows);
  const double each = std::ceil(static_cast<double>(vectors.value_or(1)) /
                                static_cast<double>(plan::threads_of_row(rows)));
  const bool held = rows.register_vectors > 0;
  const double lanes = std::log2(std::min(rows.row_threads, plan::kWarp));
  const bool apart = !rows.along() || rows.abreast;  // warps have threads of several rows
  const bool meet = apart ? rows.row_threads > 1 : rows.row_threads > plan::kWarp;
  const double batches = held ? 1 : std::ceil(each / std::max(1, plan.unroll));
  if (plan::direction_of(plan) && !std::holds_alternative<plan::StagedRows>(plan.family)) {
    demand.cached_trips += batches - 1;
    demand.shuffles += batches * lanes;
    demand.barriers += batches * (meet ? 2 : 0);
  } else {
    const double times = held ? 1 : passes + (has_full_outputs(plan) ? 1 : 0);
    demand.cached_trips += times * batches - 1;
    const int scans = plan::direction_of(plan) ? 1 : 0;
    demand.shuffles += (passes + scans) * lanes * (rows.along() ? 1 : plan.vector);
    demand.barriers += meet ? passes * (apart ? 2 : 1) : 0;
  }
  if (rows.cluster > 1) demand.clusters += passes;
  if (rows.ahead) {  // blocks take row after row, while the next one comes
    const bool strips = std::holds_alternative<plan::Strips>(plan.family);
    const auto units = static_cast<double>(
        strips ? plan::total_units(plan) : plan::vectors_across_rows(plan, rows).value_or(1));
    if (strips) demand.shuffles = 0;  // lanes have columns of their own
    const double turns = std::ceil(units * rows.cluster / demand.blocks);
    demand.cached_trips += turns - 1;
    for (double* const one : {&demand.barriers, &demand.shuffles, &demand.clusters}) *one *= turns;
  }
  demand.splits = rows.splits > 1;
}

}  // namespace

std::optional<Demand> demand_of(const Plan& plan, const Figures& figures,
                                const SymbolValues& symbols) {
  if (!figures.elements || figures.blocks.value_or(0) == 0 || !figures.bytes_moved)
    return std::nullopt;
  const plan::Rows* const rows = plan::rows_of(plan);
  Demand demand{.blocks = static_cast<double>(*figures.blocks), .threads = plan.threads};
  const auto elements = static_cast<double>(*figures.elements);
  Instructions instructions(plan, rows);
  instructions.count(demand.instructions, demand.special);
  demand.instructions *= elements;
  demand.special *= elements;
  const bool held = rows == nullptr || rows->register_vectors > 0;
  const double times =
      held ? 1 : std::max(1, instructions.passes() + (has_full_outputs(plan) ? 1 : 0));
  const bool scans = plan::direction_of(plan).has_value();
  for (std::size_t i = 0; i < plan.operands.size(); ++i) {
    const Operand& operand = plan.operands[i];
    const double bytes = bytes_touched(operand, symbols);
    if (operand.read) demand.bytes += bytes;
    if (operand.written) demand.bytes += bytes + kBytesOfCut * cut_sectors(plan, operand, elements);
    if (operand.read && !held && !scans) demand.again += (times - 1) * bytes;
    if (scans && rows->splits > 1 && operand.read) demand.again += bytes;
    demand.sectors += kSectorsOfStore * plan::scattered_stores(plan, operand);
    if (operand.per_row) continue;
    if (operand.read)
      add_accesses(plan, operand, figures.operands[i], elements, scans ? 1 : times, demand);
    if (operand.written) add_accesses(plan, operand, figures.operands[i], elements, 1, demand);
  }
  demand.trips = 1;
  if (rows != nullptr) add_waits(plan, *rows, instructions.passes(), demand);
  if (const auto* staged = std::get_if<plan::StagedRows>(&plan.family)) {
    demand.trips = staged->turns;
    demand.barriers += 2.0 * staged->turns;
  }
  const bool staged_tile = std::holds_alternative<plan::Tile>(plan.family) ||
                           std::holds_alternative<plan::Sheared>(plan.family) ||
                           std::holds_alternative<plan::Box>(plan.family);
  if (staged_tile) demand.barriers += 1;
  demand.registers = std::min(
      255, kOwnRegisters + static_cast<int>(kRegistersOfWord *
                                            static_cast<double>(figures.bytes_in_flight) / kWord));
  demand.shared_bytes = shared_bytes_of(plan);
  return demand;
}

}  // namespace tilejit::figures
