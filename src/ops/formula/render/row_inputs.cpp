// What a column has of its own: inputs that are the same for all of its elements, and values made
// of them. A thread loads and computes these once, before it goes down the column.
#include <algorithm>

#include <fmt/format.h>

#include "render/combining_writer.hpp"
#include "rows/rows.hpp"

namespace tilejit::render {

using expr::Node;
using expr::NodeId;
using plan::Operand;

bool CombiningWriter::comes_with_row(const Operand& operand) const {
  return std::holds_alternative<plan::Rows>(plan_.family) && !rows_.along() && operand.read &&
         !plan::varies_in_row(operand, rows_);
}

bool CombiningWriter::holds_values_of_row() const {
  return passes_.held_of_rows;
}

void CombiningWriter::write_inputs_of_row() {
  for (const Operand& operand : plan_.operands) {
    if (comes_with_row(operand)) line(fmt::format("  {} in{};", type_of(operand), operand.tensor));
  }
  if (!holds_values_of_row()) return;
  for (const NodeId id : passes_.held_nodes())
    line(fmt::format("  {} held{}[kVector];", held_type(id), id));
}

Code CombiningWriter::loads_of_row() const {
  Code loads;
  for (const Operand& operand : plan_.operands) {
    if (!comes_with_row(operand)) continue;
    Code load = load_of(operand);
    load.text.insert(0, fmt::format("    {} {};\n", loaded_type(operand), loaded_name(operand)));
    load.text += shift_of(operand) + fmt::format("    row.in{0} = in{0};\n", operand.tensor);
    loads += load;
  }
  return loads;
}

void CombiningWriter::write_loads_of_row(const Code& loads) {
  if (loads.text.empty()) return;
  line("  {");
  out_ += loads.text;
  if (holds_values_of_row()) {
    const Asked asked = asked_by(passes_.needed_for_held(plan_.program));
    line("#pragma unroll");
    line(fmt::format("    for (int e = 0; e < kVector; e += {}) {{", group()));
    for (const Operand& operand : plan_.operands) write_unpacking(operand, asked, false);
    for (int i = 0; i < group(); ++i) write_call(i, "hold", "p" + held_arguments(i), asked, false);
    line("    }");
  }
  line("  }");
}

std::string_view CombiningWriter::held_type(NodeId id) const {
  if (!holds_values_of_row()) return "float";
  std::string function;  // that divides by the value
  for (const Node& node : plan_.program.nodes) {
    if (std::ranges::count(node.args, id) == 0) continue;
    const bool divides = node.op == expr::Op::div && node.args[0] != id;
    const std::string own = divides ? emit_function(plan_.program, id_of(node)) : std::string();
    if (own.empty() || (!function.empty() && own != function)) return "float";
    function = own;
  }
  if (function == "math::fast_div") return "math::FastDivisor";
  return function == "math::div_from_one" ? "math::DivisorFromOne" : "float";
}

std::string CombiningWriter::divided_by_held(const Node& node) const {
  if (node.op != expr::Op::div || !passes_.is_held(node.args[1]) ||
      held_type(node.args[1]) == "float")
    return {};
  return fmt::format("{}(v{}, h{})", emit_function(plan_.program, id_of(node)), node.args[0],
                     node.args[1]);
}

}  // namespace tilejit::render
