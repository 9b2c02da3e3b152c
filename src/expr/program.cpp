#include "expr/program.hpp"

#include <charconv>

namespace tilejit::expr {
namespace {

std::string text_of(const Constant& constant, DType type) {
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

// "0,2"
std::string axes_text(std::uint32_t axes) {
  std::string text;
  for (std::size_t axis = 0; axis < kMaxReducedRank; ++axis) {
    if (has_axis(axes, axis)) text += (text.empty() ? "" : ",") + std::to_string(axis);
  }
  return text;
}

ValueAxes axes_of_value(const Node& node, const std::vector<ValueAxes>& known,
                        std::span<const std::uint32_t> tensor_axes) {
  ValueAxes axes;
  if (node.op == Op::load) axes.varying = tensor_axes[static_cast<std::size_t>(node.source)];
  if (node.op == Op::index) axes.varying = node.axes;
  if (node.op == Op::matmul) axes.varying = ~std::uint32_t{0};
  for (const NodeId arg : node.args) {
    if (arg == kNoNode) continue;
    axes.varying |= known[static_cast<std::size_t>(arg)].varying;
    axes.reduced |= known[static_cast<std::size_t>(arg)].reduced;
  }
  if (is_reduction(node.op)) {
    axes.varying &= ~node.axes;
    axes.reduced |= node.axes;
  }
  if (is_scan(node.op)) axes.varying |= node.axes;
  axes.reduced &= ~axes.varying;
  return axes;
}

}  // namespace

bool is_reduction(Op op) noexcept {
  return op >= Op::reduce_sum && op <= Op::reduce_argmax;
}
bool is_scan(Op op) noexcept {
  return op >= Op::scan_sum && op <= Op::scan_max;
}
bool combines_elements(Op op) noexcept {
  return is_reduction(op) || is_scan(op);
}

std::vector<ValueAxes> axes_of_values(const Program& program,
                                      std::span<const std::uint32_t> tensor_axes) {
  std::vector<ValueAxes> axes;
  axes.reserve(program.nodes.size());
  for (const Node& node : program.nodes) axes.push_back(axes_of_value(node, axes, tensor_axes));
  return axes;
}

std::vector<std::string> to_lines(const Program& program) {
  std::vector<std::string> lines;
  for (const Node& node : program.nodes) {
    std::string line = "v" + std::to_string(lines.size()) + ": ";
    line += tilejit::to_string(node.type);
    line += " = ";
    line += to_string(node.op);
    if (node.op == Op::constant) line += " " + text_of(node.constant, node.type);
    if (node.op == Op::load) line += " t" + std::to_string(node.source);
    if (node.op == Op::scalar) line += " s" + std::to_string(node.source);
    for (const NodeId arg : node.args) {
      if (arg != kNoNode) line += " v" + std::to_string(arg);
    }
    if (node.axes != 0) line += " axes " + axes_text(node.axes);
    if (node.exclusive) line += " exclusive";
    if (node.reverse) line += " reverse";
    lines.push_back(std::move(line));
  }
  for (const Store& store : program.stores) {
    lines.push_back("store t" + std::to_string(store.tensor) + " v" + std::to_string(store.value));
  }
  return lines;
}

std::string_view storage_type(DType type) noexcept {
  return type == b8 ? "b8" : tilejit::to_string(type);
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
