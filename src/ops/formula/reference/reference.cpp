#include "reference/reference.hpp"

#include <algorithm>

#include "reference/execute.hpp"
#include "reference/problem.hpp"
#include "reference/steps.hpp"
#include "tilejit/error.hpp"

namespace tilejit::reference {

void evaluate(const Fused& op, const formula::Analysis& analysis, const HostArguments& args) {
  if (!analysis.steps.empty()) {
    check_arguments(op, analysis, args, Needs::all);
    return evaluate_steps(op, analysis, args);
  }
  evaluate(make_problem(op, analysis, args, Needs::all));
}

Verification verify(const Fused& op, const formula::Analysis& analysis, const HostArguments& inputs,
                    std::span<const void* const> actual, const VerifyOptions& options) {
  const bool in_steps = !analysis.steps.empty();
  if (in_steps) check_arguments(op, analysis, inputs, Needs::inputs);
  const Problem problem = in_steps ? Problem() : make_problem(op, analysis, inputs, Needs::inputs);
  if (actual.size() != op.tensors.size()) {
    throw Error(ErrorCode::invalid_argument,
                "the operation has " + std::to_string(op.tensors.size()) + " tensors, but " +
                    std::to_string(actual.size()) +
                    " results were given; pass one pointer for each tensor, null for inputs",
                "/tensors");
  }
  for (const expr::Store& store : analysis.program.stores) {
    const Layout& layout = op.tensors[store.tensor].layout;
    const bool empty = std::ranges::any_of(
        layout.leaves(), [&](const Mode& m) { return m.extent.evaluate(inputs.symbols) == 0; });
    if (actual[store.tensor] != nullptr || empty) continue;
    const std::string& name = op.tensors[store.tensor].name;
    throw Error(ErrorCode::invalid_argument,
                "the result of output '" + name + "' is null; pass its host memory",
                "/tensors/" + name);
  }
  return in_steps ? verify_steps(op, analysis, inputs, actual, options) : verify(problem, actual);
}

}  // namespace tilejit::reference
