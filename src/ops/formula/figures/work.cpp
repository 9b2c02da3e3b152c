#include "figures/work.hpp"

#include "expr/traits.hpp"

namespace tilejit::figures {

Work work_of(const plan::Plan& plan) {
  Work work;
  std::vector<bool> varies;  // per node: differs among the elements of a row
  for (const expr::Node& node : plan.program.nodes) {
    bool of_element = node.op == expr::Op::load || node.op == expr::Op::index;
    for (const expr::NodeId arg : node.args) {
      of_element = of_element || (arg != expr::kNoNode && varies[static_cast<std::size_t>(arg)]);
    }
    if (of_element) {
      const expr::Cost& cost = expr::traits(node.op).cost;
      (node.type == f64 ? work.f64 : work.f32) += cost.plain;
      work.special += cost.special;
    }
    varies.push_back(of_element && !expr::is_reduction(node.op));
  }
  return work;
}

}  // namespace tilejit::figures
