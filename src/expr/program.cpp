#include "expr/program.hpp"

#include <charconv>

namespace tilejit::expr {
namespace {

constexpr std::string_view kOpNames[] = {
    "constant",  "load",   "scalar",  "cast",        "neg",        "bit_not", "logical_not", "add",
    "sub",       "mul",    "div",     "floor_div",   "mod",        "pow",     "shl",         "shr",
    "bit_and",   "bit_or", "bit_xor", "logical_and", "logical_or", "lt",      "le",          "eq",
    "ne",        "ge",     "gt",      "where",       "min",        "max",     "abs",         "exp",
    "exp2",      "log",    "log2",    "sqrt",        "rsqrt",      "sin",     "cos",         "tan",
    "tanh",      "erf",    "floor",   "ceil",        "round",      "sigmoid", "silu",        "gelu",
    "gelu_tanh", "relu",   "clamp"};
static_assert(std::size(kOpNames) == static_cast<std::size_t>(Op::clamp) + 1);

std::string to_string(const Constant& constant, DType type) {
  char text[40];
  char* end = text;
  const auto* integer = std::get_if<std::int64_t>(&constant);
  if (integer == nullptr) {
    end = std::to_chars(text, text + sizeof text, std::get<double>(constant)).ptr;
  } else if (type == u64) {
    end = std::to_chars(text, text + sizeof text, static_cast<std::uint64_t>(*integer)).ptr;
  } else {
    end = std::to_chars(text, text + sizeof text, *integer).ptr;
  }
  return {text, end};
}

}  // namespace

std::string_view to_string(Op op) noexcept {
  return kOpNames[static_cast<std::size_t>(op)];
}

std::vector<std::string> to_lines(const Program& program) {
  std::vector<std::string> lines;
  for (const Node& node : program.nodes) {
    std::string line = "v" + std::to_string(lines.size()) + ": ";
    line += tilejit::to_string(node.type);
    line += " = ";
    line += to_string(node.op);
    if (node.op == Op::constant) line += " " + to_string(node.constant, node.type);
    if (node.op == Op::load) line += " t" + std::to_string(node.source);
    if (node.op == Op::scalar) line += " s" + std::to_string(node.source);
    for (const NodeId arg : node.args) {
      if (arg != kNoNode) line += " v" + std::to_string(arg);
    }
    lines.push_back(std::move(line));
  }
  for (const Store& store : program.stores) {
    lines.push_back("store t" + std::to_string(store.tensor) + " v" + std::to_string(store.value));
  }
  return lines;
}

std::string_view compute_type(DType type) noexcept {
  switch (type) {
    case f64: return "double";
    case f16:
    case bf16:
    case f32:
    case f8e4m3:
    case f8e5m2:
    case tf32: return "float";
    default: return tilejit::to_string(type);  // "bool", "i8", ..., "u64"
  }
}

}  // namespace tilejit::expr
