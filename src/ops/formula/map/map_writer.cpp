#include "map/map_writer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tilejit::render {

using expr::Node;
using expr::NodeId;
using plan::IndexWidth;

std::vector<bool> MapWriter::find_held() const {
  if (plan_.vector == 1) return {};
  const std::vector<Node>& nodes = plan_.program.nodes;
  const std::vector<bool> same = plan::same_in_vectors(plan_);
  std::vector<bool> asked(nodes.size());
  int cost = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (same[i]) {
      cost += cost_of(nodes[i]);
      continue;
    }
    for (const NodeId arg : nodes[i].args) {
      if (arg != expr::kNoNode) asked[static_cast<std::size_t>(arg)] = true;
    }
  }
  if (cost < kHeavyValues) return {};
  for (const expr::Store& store : plan_.program.stores)
    asked[static_cast<std::size_t>(store.value)] = true;
  std::vector<bool> held(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i)
    held[i] = asked[i] && same[i] && nodes[i].op != expr::Op::load;
  return held;
}

expr::Slice MapWriter::formula() const {
  expr::Slice slice = HeaderWriter::formula();
  if (passes_.held_nodes().empty()) return slice;
  std::vector<NodeId> stored;
  for (const expr::Store& store : slice.stores) stored.push_back(store.value);
  slice.nodes = passes_.needed_for(plan_.program, stored);
  return slice;
}

std::string MapWriter::given(NodeId id) const {
  return passes_.is_held(id) ? fmt::format("h{}", id) : HeaderWriter::given(id);
}

std::string MapWriter::own_parameters(bool) const {
  std::string parameters;
  for (const NodeId id : passes_.held_nodes()) {
    const Node& node = plan_.program.nodes[static_cast<std::size_t>(id)];
    parameters += fmt::format(", {} h{}", expr::compute_type(node.type), id);
  }
  return parameters;
}

std::string MapWriter::own_arguments(int) const {
  std::string arguments;
  for (const NodeId id : passes_.held_nodes()) arguments += fmt::format(", held.v{}", id);
  return arguments;
}

void MapWriter::write_constants() {
  const bool both = map_.index == IndexWidth::both;
  line(fmt::format("#define KERNEL_NAME_WIDE {}{}", plan_.kernel_name, both ? "_wide" : ""));
  line(fmt::format("#define INDEX_NARROW {:d}", map_.index != IndexWidth::wide));
  line(fmt::format("#define INDEX_WIDE {:d}\n", map_.index != IndexWidth::narrow));
  line(fmt::format("constexpr int kThreads = {};  // a block", plan_.threads));
  line(fmt::format("constexpr int kVector = {};  // elements along the innermost mode",
                   plan_.vector));
  line(fmt::format("constexpr int kUnroll = {};  // vectors a thread\n", plan_.unroll));
  // Extents that are parameters would be read again, and vectors numbered again.
  const bool known = !map_.light && std::ranges::all_of(plan_.extents, &Dim::is_known);
  const bool divides = std::ranges::count(plan_.program.nodes, expr::Op::div, &Node::op) > 0;
  if (known && divides) line("#define LOADS_FIRST");
}

void MapWriter::write_before_formula() {
  const std::vector<NodeId> held = passes_.held_nodes();
  if (held.empty()) return;
  const std::vector<bool> nodes = passes_.needed_for_held(plan_.program);
  line("// What all elements of a vector need of inputs that are the same for them.");
  line("struct Held {");
  std::string values;
  for (const NodeId id : held) {
    const Node& node = plan_.program.nodes[static_cast<std::size_t>(id)];
    line(fmt::format("  {} v{};", expr::compute_type(node.type), id));
    values += fmt::format("{}v{}", values.empty() ? "" : ", ", id);
  }
  line("};");
  line(fmt::format("TILE_DEVICE Held hold(const Params& p{}) {{",
                   asked_parameters(asked_by(nodes), false)));
  write_values({.nodes = nodes,
                .stores = {},
                .given = [this](NodeId id) { return HeaderWriter::given(id); },
                .results = held},
               2);
  line(fmt::format("  return {{{}}};\n}}\n", values));
}

void MapWriter::write_behind_formula() {
  const Code loads = this->loads(), stores = this->stores(),
             places = this->places(asked_by_formula());
  line("// Vector v: kVector neighbours along the innermost mode, of every operand.");
  line("template <class Index>\nstruct Vector {");
  write_inputs();
  line("\n  TILE_DEVICE void load(const Params& p, Index v) {");
  write_coordinates(loads);
  write_loads(loads);
  line("  }\n");
  line("  TILE_DEVICE void map(const Params& p, Index v) const {");
  write_outputs();
  write_coordinates(places + stores);
  out_ += places.text;
  if (!passes_.held_nodes().empty()) {
    const Asked asked = asked_by(passes_.needed_for_held(plan_.program));
    line(fmt::format("    const Held held = {};", call(0, "hold", "p", asked, false)));
  }
  write_groups();
  out_ += stores.text;
  line("  }\n};");
}

/// At the end of a row, no load waits for another one. Threads there load the row's first vector,
/// too, so that a warp's other threads do not wait behind a branch.
void MapWriter::write_loads(const Code& loads) {
  const Dim& row = plan_.extents.front();
  if (!plan_.ragged || plan_.peeled || !loads.valid) {
    out_ += loads.text;
    return;
  }
  const bool has_vector = row.is_known() && row.value() >= plan_.vector;
  if (has_vector) {
    line("    const Index own = c0;\n    {");
    line("      const Index c0 = valid == kVector ? own : 0;");
  } else {
    line("    if (valid == kVector) {");
  }
  out_ += indented(this->loads(Part::all).text, 2);
  line(has_vector ? "    }\n    if (valid < kVector) {" : "    } else {");
  if (row.is_known())
    line(fmt::format("      constexpr int valid = {};", row.value() % plan_.vector));
  out_ += indented(this->loads(Part::end).text, 2);
  line("    }");
  out_ += gathers().text;
}

/// c0 counts vectors along the innermost mode, and all other coordinates count elements; `valid`
/// counts the elements that exist.
void MapWriter::write_coordinates(Code accesses) {
  const Code shift = this->shift();
  accesses.coordinates.insert(shift.coordinates.begin(), shift.coordinates.end());
  if (plan_.peeled) accesses.coordinates.insert(0);
  const std::size_t rank = plan_.extents.size();
  const auto asked = [&](std::size_t m) {
    return (m == 0 && accesses.valid && plan_.ragged) || accesses.asks_for(m);
  };
  const std::vector<std::size_t> order = plan::order_of_vectors(plan_);
  std::size_t end = rank;  // one past the last mode asked for
  while (end > 0 && !asked(order[end - 1])) --end;
  std::string from = "v";
  for (std::size_t i = 0; i < end; ++i) {
    const std::size_t m = order[i];
    if (i + 1 == rank) {
      line(fmt::format("    const Index c{} = {};", m, from));
      break;
    }
    const std::string to = fmt::format("rest{}", i + 1);
    const auto [count, quotient] = split_at(m, m == 0 ? plan_.vector : 1, from, "Index");
    line(fmt::format("    const Index {} = {};", to, quotient));
    if (asked(m))
      line(fmt::format("    const Index c{} = {} - {} * {};  // {}", m, from, to, count,
                       to_string(plan_.extents[m])));
    from = to;
  }
  if (plan_.peeled) {
    out_ += shift.text;
    return line(fmt::format("    const u32 exists = {};", existing()));
  }
  if (!accesses.valid) return;
  if (!plan_.ragged) return line("    constexpr int valid = kVector;");
  const Dim& row = plan_.extents.front();
  if (row.is_known()) {
    return line(fmt::format("    const int valid = c0 < Index({}) ? kVector : {};",
                            row.value() / plan_.vector, row.value() % plan_.vector));
  }
  line(fmt::format("    const i64 rest = {} - i64(c0) * kVector;", value_of(row)));
  line("    const int valid = rest < kVector ? int(rest) : kVector;");
}

}  // namespace tilejit::render
