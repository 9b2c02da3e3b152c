// How vectors of rows are loaded, folded and mapped.
#include <algorithm>

#include <fmt/format.h>

#include "render/combining_writer.hpp"
#include "rows/rows.hpp"

namespace tilejit::render {

using expr::NodeId;
using plan::Operand;

namespace {

constexpr int kLongVector = 8;  // elements

/// Whether the operand's rows of several modes are runs in memory: their vectors are numbered.
bool has_rows_of_runs(const Operand& operand, const plan::Plan& plan, const plan::Rows& rows) {
  std::int64_t apart = 1;
  for (std::size_t m = rows.first; m < rows.first + rows.count; ++m) {
    const plan::OperandMode& mode = operand.modes[m];
    if (mode.size() != 1 || !mode[0].stride.is(apart) || !plan.extents[m].is_known()) return false;
    apart *= plan.extents[m].value();
  }
  return true;
}

}  // namespace

std::string CombiningWriter::pass_start(const Asked& asked, const Code& accesses) const {
  std::string declarations;
  Code loads;
  for (const Operand& operand : plan_.operands) {
    if (!operand.read || is_loaded(operand) ||
        !asked.tensors[static_cast<std::size_t>(operand.tensor)])
      continue;
    if (comes_with_row(operand)) {
      declarations +=
          fmt::format("    const {0}& in{1} = row.in{1};\n", type_of(operand), operand.tensor);
      continue;
    }
    declarations += fmt::format("    {} {};\n", loaded_type(operand), loaded_name(operand));
    loads += load_in_pass(operand);
    loads.text += shift_of(operand);
  }
  loads += places(asked);
  const Code asking = loads + accesses;
  if (asking.text.empty()) return declarations;
  return narrow_number() + indented(row_coordinates(), 2) + shift().text + valid_of_vector(asking) +
         declarations + loads.text;
}

std::string CombiningWriter::narrow_number() const {
  const bool divides_in_loop = rows_.register_vectors == 0 && rows_.count > 1 && !plan_.peeled &&
                               plan::has_short_rows(plan_);
  return divides_in_loop ? "    asm(\"\" : \"+r\"(v));\n" : "";
}

/// Declares how many elements of a vector exist, unless the vector itself knows.
std::string CombiningWriter::valid_of_vector(const Code& accesses) const {
  const bool along = rows_.along();
  if ((along && plan_.ragged) || !accesses.valid) return {};
  return !along && plan_.ragged ? "    const int valid = row.valid;\n"
                                : "    constexpr int valid = kVector;\n";
}

std::string CombiningWriter::exists(int i) const {
  if (plan_.peeled) return fmt::format("exists >> (e + {}) & 1", i);
  return rows_.along() && plan_.ragged ? fmt::format("e + {} < valid", i) : "is_there";
}

std::string CombiningWriter::if_exists(int i) const {
  return "if (" + exists(i) + ") ";
}

void CombiningWriter::write_vector() {
  line("// kVector neighbours along mode 0, of every operand.");
  line("struct Vector {");
  write_inputs();
  write_load();
  if (!passes_.held_nodes().empty() && !holds_values_of_row()) write_held();
  for (int pass = 0; pass < passes_.count; ++pass) {
    write_pass_fold(pass);
    if (passes_.rescaled(plan_.program, pass).empty()) continue;
    write_fold(fmt::format("Pass{}", pass),
               asked_by(passes_.needed_for_rescaled(plan_.program, pass)), true);
  }
  if (direction_) {
    write_scan_map();
  } else {
    write_map();
  }
}

void CombiningWriter::write_hold() {
  const std::vector<NodeId> held = passes_.held_nodes();
  const std::vector<bool> nodes = passes_.needed_for_held(plan_.program);
  line(holds_values_of_row() ? "// What the elements of a column need of its own inputs."
                             : "#define HOLDS_VALUES 1  // of elements, in the place of inputs");
  std::string parameters = "const Params& p";
  for (const NodeId id : held) parameters += fmt::format(", {}& h{}", held_type(id), id);
  line(fmt::format("TILE_DEVICE void hold({}{}) {{", parameters,
                   asked_parameters(asked_by(nodes), false)));
  write_values({.nodes = nodes,
                .stores = {},
                .given = [this](NodeId id) { return HeaderWriter::given(id); },
                .results = held},
               2);
  for (const NodeId id : held) line(fmt::format("  h{0} = v{0};", id));
  line("}\n");
}

void CombiningWriter::write_held() {
  const Asked asked = asked_by(passes_.needed_for_held(plan_.program));
  for (const NodeId id : passes_.held_nodes()) line(fmt::format("  float held{}[kVector];", id));
  line("\n  TILE_DEVICE void hold_values(const Params& p, const Row& row, Index v) {");
  out_ += pass_start(asked, {}) + shifts(asked);
  line("#pragma unroll");
  line(fmt::format("    for (int e = 0; e < kVector; e += {}) {{", group()));
  for (const Operand& operand : plan_.operands) write_unpacking(operand, asked, false);
  for (int i = 0; i < group(); ++i) write_call(i, "hold", "p" + held_arguments(i), asked, false);
  line("    }\n  }");
}

std::string CombiningWriter::held_arguments(int i) const {
  std::string arguments;
  const char* const of = holds_values_of_row() ? "row." : "";
  for (const NodeId id : passes_.held_nodes())
    arguments += fmt::format(", {}held{}[e + {}]", of, id, i);
  return arguments;
}

void CombiningWriter::write_load() {
  const bool partial = rows_.along() && plan_.ragged;
  if (plan_.peeled) {
    line("  u32 exists;  // a bit per element");
  } else if (partial) {
    line("  int valid;  // elements that exist");
  } else if (computes_always_) {
    line("  bool is_there;");
  }
  line("\n  TILE_DEVICE void load(const Params& p, const Row& row, Index v, bool wanted = true) {");
  if (computes_always_ && !plan_.peeled) {
    line("    *this = Vector();");
    if (!partial) line("    is_there = wanted;");
  }
  if (!plan_.peeled) line("    if (!wanted) return;");
  const Code loads = this->loads();
  const auto is_numbered = [&](const Operand& operand) {
    return !is_loaded(operand) || has_rows_of_runs(operand, plan_, rows_);
  };
  if (!std::ranges::all_of(plan_.operands, is_numbered)) out_ += narrow_number();
  if (partial || !loads.text.empty())
    out_ += indented(row_coordinates(), 2) + valid_of_vector(loads);
  if (plan_.peeled) {
    out_ += shift().text;
    const std::int64_t inner = plan::inner_vectors(plan_);
    if (inner > 0) {
      line(fmt::format("    if (c0 < {}) {{  // ends before its row does, wherever this begins",
                       inner));
      line("      constexpr u32 kAll = (1u << kVector) - 1;");
      line("      exists = !wanted ? 0 : c0 > 0 ? kAll : kAll & (kAll << shift);");
      out_ += indented(this->loads(Part::all).text, 2);
      line("      return;\n    }");
    }
    line(fmt::format("    exists = wanted ? {} : 0;", existing()));
  } else if (partial) {
    line(fmt::format("    const i64 rest = {} - i64(c0) * kVector;",
                     value_of(plan_.extents.front())));
    line("    valid = rest < kVector ? int(rest) : kVector;");
  }
  out_ += loads.text;
  line("  }");
}

void CombiningWriter::write_pass_fold(int pass) {
  write_fold(fmt::format("Pass{}", pass), asked_by_pass(pass), false);
}

/// Writes a vector's weights, if it has some.
void CombiningWriter::write_weights() {
  std::string members;
  Code loads;
  for (const Operand& operand : plan_.operands) {
    if (!is_weight(operand)) continue;
    members += fmt::format("    {} {};\n", loaded_type(operand), loaded_name(operand));
    loads += load_in_pass(operand);
  }
  if (members.empty()) return;
  line("  // What outputs need of inputs that all rows share.");
  line("  struct Weights {");
  out_ += members;
  line("\n    TILE_DEVICE void load(const Params& p, const Row& row, Index v) {");
  out_ += indented(row_coordinates(), 4) +
          indented(shift().text + valid_of_vector(loads) + loads.text, 2);
  line("    }\n  };\n");
}

void CombiningWriter::write_map() {
  write_weights();
  Asked in_pass = asked_by_formula();
  std::string weights;
  for (const Operand& operand : plan_.operands) {
    if (!is_weight(operand)) continue;
    in_pass.tensors[static_cast<std::size_t>(operand.tensor)] = false;
    weights += fmt::format("    const {0}& {1} = weights.{1};\n", loaded_type(operand),
                           loaded_name(operand)) +
               shift_of(operand);
  }
  line("  TILE_DEVICE void map(const Params& p, const Row& row, Index v,");
  line(fmt::format("                       const Results (&r)[kAcross]{}) const {{",
                   weights.empty() ? "" : ", const Weights& weights"));
  const Code stores = this->stores();
  if (!stores.text.empty()) {
    out_ += pass_start(in_pass, stores) + weights;
    write_outputs();
    write_groups();
    out_ += stores.text;
  }
  line("  }\n};\n");
}

/// Writes how the `asked` elements of a vector are folded into accumulators of type `accumulator`:
/// into the sums below a maximum if `below`, else into all others.
void CombiningWriter::write_fold(const std::string& accumulator, const Asked& asked, bool below) {
  const bool along = rows_.along(), partial = along && plan_.ragged;
  line("  TILE_DEVICE void fold(const Params& p, const Row& row, Index v,");
  line(
      fmt::format("                        const Results (&r)[kAcross], {} (&a)[kAcross]{}) "
                  "const {{",
                  accumulator, below ? ", Below" : ""));
  out_ += pass_start(asked, {}) + shifts(asked);
  const auto fold_elements = [&](bool all) {
    line("#pragma unroll");
    line(fmt::format("    for (int e = 0; e < kVector; e += {}) {{", group()));
    for (const Operand& operand : plan_.operands) write_unpacking(operand, asked, false);
    for (int i = 0; i < group(); ++i) {
      const std::string at = along ? "0" : i == 0 ? "e" : fmt::format("e + {}", i);
      const std::string fold = fmt::format("a[{}].fold{}", at, below ? "_below" : "");
      if (computes_always_) {
        write_call(i, fold + "_if", fmt::format("{}, p, r[{}]{}", exists(i), at, held_arguments(i)),
                   asked, false);
      } else {
        write_call(i, (all ? "" : if_exists(i)) + fold,
                   fmt::format("p, r[{}]{}", at, held_arguments(i)), asked, false);
      }
    }
    line("    }");
  };
  // Of so many elements, asking for each takes longer than reading the code twice.
  if (plan_.peeled && plan_.vector >= kLongVector && !computes_always_) {
    line("    if (exists == (1u << kVector) - 1) {");
    fold_elements(true);
    line("    return;\n    }");
  }
  fold_elements(!partial);
  line("  }");
}

/// Writes the end of struct Vector: how its elements are folded into the accumulators, and its
/// outputs, in the order of the scan.
void CombiningWriter::write_scan_map() {
  const bool along = rows_.along(), backwards = along && direction_ == plan::Direction::backward;
  const Asked asked = asked_by_formula();
  write_fold("Scans", asked_by(passes_.needed_for(plan_.program, passes_.scans(plan_.program))),
             false);
  line("  TILE_DEVICE void map(const Params& p, const Row& row, Index v,");
  line("                       const Results (&r)[kAcross], Scans (&a)[kAcross]) const {");
  const Code stores = this->stores();
  out_ += pass_start(asked, stores) + shifts(asked);
  write_outputs();
  line("#pragma unroll");
  line(backwards ? fmt::format("    for (int e = kVector - {0}; e >= 0; e -= {0}) {{", group())
                 : fmt::format("    for (int e = 0; e < kVector; e += {}) {{", group()));
  for (const Operand& operand : plan_.operands) write_unpacking(operand, asked, true);
  for (int n = 0; n < group(); ++n) {
    const int i = backwards ? group() - 1 - n : n;
    const std::string at = along ? "0" : fmt::format("e + {}", i);
    // Elements beyond an end of the row may come first.
    const std::string exists = plan_.peeled || (backwards && plan_.ragged) ? if_exists(i) : "";
    write_call(i, exists + "formula", fmt::format("p, r[{0}], a[{0}]", at) + held_arguments(i),
               asked, true);
  }
  for (const Operand& operand : plan_.operands) write_packing(operand);
  line("    }");
  out_ += stores.text;
  line("  }\n};\n");
}

HeaderWriter::Asked CombiningWriter::asked_by_pass(int pass) const {
  const std::vector<NodeId> folded = passes_.folded(plan_.program, pass);
  Asked asked = asked_by(passes_.needed_for(plan_.program, folded));
  for (const NodeId id : folded) {
    if (expr::finds_place(node_of(id).op)) asked.places[place_of(node_of(id))] = true;
  }
  return asked;
}

std::vector<NodeId> CombiningWriter::arguments_of(const std::vector<NodeId>& ids) const {
  std::vector<NodeId> arguments;
  for (const NodeId id : ids) arguments.push_back(node_of(id).args[0]);
  return arguments;
}

}  // namespace tilejit::render
