// The struct that accumulates all scans.
#include <fmt/format.h>

#include "render/combination.hpp"
#include "render/combining_writer.hpp"
#include "rows/rows.hpp"

namespace tilejit::render {
namespace {

using expr::Node;
using expr::NodeId;

/// The number of parts of a running total. Each part sums 64 totals of the part before, and there
/// are as many parts as the chunks of a row, or of a block's share of it, need.
int levels(const plan::Plan& plan) {
  constexpr std::int64_t kTurns = 64;
  const plan::Rows& rows = *plan::rows_of(plan);
  const auto length = plan::vectors_in_row(plan, rows);
  const std::int64_t share = std::int64_t{rows.row_threads} * plan.unroll * rows.splits;
  if (!length || *length > kTurns * kTurns * share) return 3;
  return *length > kTurns * share ? 2 : 1;
}

/// The function that takes the next element along a row and returns the scan's value there.
std::string next_function(const Node& node, NodeId id) {
  const std::string own = fmt::format("a{}", id), type(expr::compute_type(node.type));
  const bool floating_extremum = is_extremum(node.op) && is_floating(node.type);
  const std::string start =
      floating_extremum ? expr::emit_combination(node, infinity(node), own) : own;
  std::string text = fmt::format("  TILE_DEVICE {} next{}({} x) {{\n", type, id, type);
  if (node.exclusive) text += fmt::format("    const {} before = {}({});\n", type, type, start);
  text +=
      fmt::format("    {} = {};\n", own,
                  expr::emit_combination(node, own, fmt::format("{}(x)", accumulator_type(node))));
  return text + fmt::format("    return {};\n  }}\n",
                            node.exclusive ? "before" : fmt::format("{}({})", type, own));
}

}  // namespace

/// Writes the accumulators of all scans. They cover the elements before some place.
void CombiningWriter::write_scans() {
  const std::vector<NodeId> scans = passes_.scans(plan_.program);
  const auto combine = [&](NodeId id, const std::string& value) {
    const std::string own = fmt::format("a{}", id);
    return fmt::format("    {} = {};", own, expr::emit_combination(node_of(id), own, value));
  };
  line(fmt::format("enum : bool {{ kReverse = {} }};", *direction_ == plan::Direction::backward));
  line("enum : int { kTurns = 64 };  // totals that a part of a running total has");
  line(fmt::format("enum : int {{ kLevels = {} }};  // its parts\n", levels(plan_)));
  line("struct Scans {");
  for (const NodeId id : scans) {
    line(fmt::format("  {} a{} = {};", accumulator_type(node_of(id)), id, identity(node_of(id))));
  }
  const std::vector<bool> nodes = passes_.needed_for(plan_.program, scans);
  line(fmt::format("\n  TILE_DEVICE void fold({}) {{", element_parameters(asked_by(nodes), false)));
  write_values({.nodes = nodes,
                .stores = {},
                .given = [this](NodeId id) { return given(id); },
                .results = arguments_of(scans)},
               4);
  for (const NodeId id : scans) {
    line(combine(id, fmt::format("{}(v{})", accumulator_type(node_of(id)), node_of(id).args[0])));
  }
  line("  }");
  if (computes_always_) write_conditional_fold("Scans", "fold");
  line("  TILE_DEVICE void combine(const Scans& behind) {");
  for (const NodeId id : scans) line(combine(id, fmt::format("behind.a{}", id)));
  line("  }");
  for (const NodeId id : scans) out_ += next_function(node_of(id), id);
  const bool gives_results = !passes_.reductions(plan_.program, passes_.count).empty();
  if (gives_results) write_finish(passes_.count);
  line("};");
  line(fmt::format("#define SCANS_GIVE_RESULTS {:d}", gives_results));
  if (rows_.splits > 1) {
    line(fmt::format("static_assert(sizeof(Scans) == {}, \"the host makes room\");",
                     plan::accumulator_bytes(plan_, expr::is_scan)));
  }
  line("");
}

}  // namespace tilejit::render
