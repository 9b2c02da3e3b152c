#include "reference/reference.hpp"

#include "reference/execute.hpp"
#include "reference/problem.hpp"
#include "tilejit/error.hpp"

namespace tilejit::reference {

void evaluate(const Fused& op, const formula::Analysis& analysis, const HostArguments& args) {
  evaluate(make_problem(op, analysis, args, Needs::all));
}

Verification verify(const Fused& op, const formula::Analysis& analysis, const HostArguments& inputs,
                    std::span<const void* const> actual) {
  const Problem problem = make_problem(op, analysis, inputs, Needs::inputs);
  if (actual.size() != op.tensors.size()) {
    throw Error(ErrorCode::invalid_argument,
                "the operation has " + std::to_string(op.tensors.size()) + " tensors, but " +
                    std::to_string(actual.size()) +
                    " results were given; pass one pointer for each tensor, null for inputs",
                "/tensors");
  }
  for (const expr::Store& store : problem.program.stores) {
    const bool empty = has_no_elements(problem.tensors[store.tensor]);
    if (actual[store.tensor] != nullptr || empty) continue;
    const std::string& name = op.tensors[store.tensor].name;
    throw Error(ErrorCode::invalid_argument,
                "the result of output '" + name + "' is null; pass its host memory",
                "/tensors/" + name);
  }
  return verify(problem, actual);
}

}  // namespace tilejit::reference
