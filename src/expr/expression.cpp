#include "expr/expression.hpp"

#include "expr/axes.hpp"
#include "expr/evaluator.hpp"
#include "expr/graph.hpp"
#include "expr/names.hpp"
#include "expr/parser.hpp"
#include "expr/typer.hpp"

namespace tilejit::expr {
namespace {

Value value_of(const Operand& operand, Graph& graph) {
  if (operand.kind == Operand::Kind::literal) return operand.literal;
  Node node;
  node.op = operand.kind == Operand::Kind::tensor ? Op::load : Op::scalar;
  node.type = operand.dtype;
  node.source = operand.source;
  return graph.add(node);
}

[[noreturn]] void fail_unknown(const SourceText& text, const ExpressionScope& scope,
                               std::string_view name, std::size_t position) {
  if (scope.functions->find(name) || find_builtin(name) != nullptr) {
    fail_at(text, position, quoted(name) + " is a function: call it");
  }
  fail_at(text, position, "unknown name " + quoted(name) + suggestion(name, scope.known));
}

Value stored_value(const Value& value, const ExpressionScope& scope, Typer& typer,
                   const ParsedText& parsed) {
  if (!scope.stored) return value;
  try {
    return typer.stored(value, *scope.stored);
  } catch (const Fault& fault) {
    fail_at(parsed.source, parsed.nodes.back().position, fault.message);
  }
}

}  // namespace

Expression compile_expression(const SourceText& text, const ExpressionScope& scope) {
  const ParsedText parsed = parse_expression(text, scope.dialect);
  Graph graph;
  Typer typer(graph);
  const Scope axes_scope{.rank = scope.rank};
  const AxisTable axes(axes_scope);
  Evaluator evaluator(*scope.functions, axes, typer, parsed.source, scope.advice);
  const auto read = [&](const NameRead& name) {
    if (name.transposed) {
      fail_at(parsed.source, name.position, "'.T' stands in formulas of fused operations only");
    }
    const auto operand = scope.find(name.name, name.position);
    if (!operand) fail_unknown(parsed.source, scope, name.name, name.position);
    return value_of(*operand, graph);
  };
  const Value value = stored_value(
      evaluator.evaluate(parsed, parsed.statements.front().value, read), scope, typer, parsed);
  if (value.is_weak()) return {.literal = value.weak};
  const Program program = graph.prune({{0, value.node}});
  return {.nodes = program.nodes, .value = program.stores.front().value};
}

}  // namespace tilejit::expr
