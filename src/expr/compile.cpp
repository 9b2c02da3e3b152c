#include "expr/axes.hpp"
#include "expr/evaluator.hpp"
#include "expr/functions.hpp"
#include "expr/parser.hpp"
#include "expr/program.hpp"
#include "expr/symbols.hpp"
#include "expr/typer.hpp"

namespace tilejit::expr {

Program compile_formula(std::string_view formula, const Scope& scope) {
  const FunctionTable functions(scope.functions);
  const ParsedText parsed = parse_statements({formula, "formula", "/formula"});
  Graph graph;
  Typer typer(graph);
  Symbols symbols(scope, functions, parsed, graph, typer);
  const AxisTable axes(scope);
  Evaluator evaluator(functions, axes, typer, parsed.source);
  symbols.evaluate_all(evaluator);
  return symbols.finish();
}

}  // namespace tilejit::expr
