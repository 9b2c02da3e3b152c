// Expressions over tiles.
#include <algorithm>

#include "program/kernel_evaluation.hpp"
#include "program/kernel_text.hpp"
#include "program/kernel_writer.hpp"

namespace tilejit::program {

using expr::Node;
using expr::NodeId;
using expr::Op;

std::string KernelWriter::thread_coordinate(const Distribution& of, int axis) {
  const std::string thread = digits_text(of.of_thread, axis, "tid");
  if (thread.empty()) return thread;
  auto [found, is_new] = places_.try_emplace(thread, "q" + std::to_string(places_.size()));
  if (is_new) declarations_ += "  const int " + found->second + " = " + thread + ";\n";
  return found->second;
}

std::string KernelWriter::coordinate(const Distribution& of, int axis, const std::string& i) {
  const std::string thread = thread_coordinate(of, axis);
  const std::string value = digits_text(of.of_value, axis, i);
  if (thread.empty()) return value.empty() ? "0" : value;
  return value.empty() ? thread : thread + " + " + value;
}

std::string KernelWriter::inside(const Distribution& of, const std::string& i) {
  std::string text;
  for (std::size_t axis = 0; axis < of.shape.size(); ++axis) {
    if (!of.overhangs(static_cast<int>(axis))) continue;
    text += (text.empty() ? "" : " && ") + coordinate(of, static_cast<int>(axis), i) + " < " +
            std::to_string(of.shape[axis]);
  }
  return text.empty() ? "true" : text;
}

std::string KernelWriter::is_owner(const Distribution& of) {
  std::string text;
  std::int64_t before = 1;
  for (const Distribution::Digit& digit : of.of_thread) {
    if (digit.axis < 0) {
      text += (text.empty() ? "" : " && ") + std::string("tid / ") + std::to_string(before) +
              " % " + std::to_string(digit.extent) + " == 0";
    }
    before *= digit.extent;
  }
  if (before < of.threads) {
    text += (text.empty() ? "" : " && ") + std::string("tid < ") + std::to_string(before);
  }
  return text.empty() ? "true" : text;
}

std::string KernelWriter::scalar_source(int scalar) const {
  static constexpr const char* kXyz[] = {"x", "y", "z"};
  const Code& code = plan_.code;
  if (scalar < kGridDim) return std::string("block_") + kXyz[scalar - kBlockIdx];
  if (scalar < kBlockDim) return std::string("i64(gridDim.") + kXyz[scalar - kGridDim] + ")";
  if (scalar < kThreadIdx) return std::string("i64(blockDim.") + kXyz[scalar - kBlockDim] + ")";
  if (scalar < kTid) return std::string("i64(threadIdx.") + kXyz[scalar - kThreadIdx] + ")";
  if (scalar == kTid) return "i64(tid)";
  const int arguments = static_cast<int>(plan_.signature.scalars.size());
  if (scalar < code.first_scalar) return "p.d" + std::to_string(scalar - code.first_symbol);
  if (scalar < code.first_scalar + arguments) {
    return "p.s" + std::to_string(scalar - code.first_scalar);
  }
  return "k" + std::to_string(scalar);
}

std::string KernelWriter::scalar(const Value& value) {
  const expr::Expression& code = value.code;
  if (code.is_known()) return known_text(code.literal, expr::default_type(code.literal));
  const Node& last = value.node(code.value);
  if (last.op == Op::scalar) return scalar_source(last.source);
  const std::string name = fresh("x");
  line(std::string(expr::compute_type(last.type)) + " " + name + ";");
  // Tiles of one element: every thread has them.
  const Distribution space{
      .shape = value.space, .threads = plan_.threads, .of_thread = {}, .of_value = {}};
  evaluate(value, space, value.space, last.type,
           [&](const std::string& text) { line(name + " = " + text + ";"); });
  return name;
}

std::string KernelWriter::condition(const Value& value) {
  const bool reads =
      std::ranges::any_of(value.code.nodes, [](const Node& node) { return node.op == Op::load; });
  const std::string text = "(" + scalar(value) + ") != 0";
  if (!reads || in_thread_ > 0) return text;
  // Threads that read memory of other blocks may see different values; the block decides together.
  const std::string name = fresh("x");
  wait_for_copies();
  line("const bool " + name + " = __syncthreads_or(" + text + ") != 0;");
  hazards_.clear();
  return name;
}

Distribution KernelWriter::space_of(const Value& value, int out) const {
  const auto fits = [&](int tile) {
    const auto& known = plan_.distributions[static_cast<std::size_t>(tile)];
    if (!known) return false;
    Extents shape = slot(tile).type.shape;
    if (shape.size() < value.space.size()) {
      shape.insert(shape.begin(), value.space.size() - shape.size(), 1);
    }
    return shape == value.space;
  };
  const auto of = [&](int tile) {
    return renamed(*plan_.distributions[static_cast<std::size_t>(tile)], value.space);
  };
  if (out >= 0 && fits(out)) return of(out);
  for (const Node& node : value.code.nodes) {
    if (node.op == Op::load && fits(node.source)) return of(node.source);
  }
  return copy_distribution(value.space, plan_.threads, {});
}

void KernelWriter::statements(const Evaluation& evaluation, NodeId id, const Distribution& over) {
  const Value& value = evaluation.value;
  std::vector<bool> needed(value.code.nodes.size(), false);
  needed[static_cast<std::size_t>(id)] = true;
  for (std::size_t n = value.code.nodes.size(); n-- > 0;) {
    const Node& node = value.code.nodes[n];
    if (!needed[n] || evaluation.made.contains(static_cast<NodeId>(n))) continue;
    for (const NodeId arg : node.args) {
      if (arg != expr::kNoNode) needed[static_cast<std::size_t>(arg)] = true;
    }
  }
  const auto given = [&](NodeId of) -> std::string {
    const Node& node = value.node(of);
    const Extents& shape = evaluation.shapes[static_cast<std::size_t>(of)];
    if (const auto made = evaluation.made.find(of); made != evaluation.made.end()) {
      const std::string text =
          made->second + "[" + slice_index(over, evaluation.made_over.at(of), "i") + "]";
      return node.type == b8 ? text + " != 0" : text;
    }
    switch (node.op) {
      case Op::load: {
        const Array& from = evaluation.operands.at(of);
        return "to_compute(" + from.name + "[" + slice_index(over, shape, "i") + "])";
      }
      case Op::scalar: return scalar_source(node.source);
      case Op::index: {
        std::size_t axis = 0;
        while (!expr::has_axis(node.axes, axis)) ++axis;
        return "i64(" + coordinate(over, static_cast<int>(axis), "i") + ")";
      }
      case Op::extent: {
        std::int64_t product = 1;
        for (std::size_t axis = 0; axis < value.space.size(); ++axis) {
          if (expr::has_axis(node.axes, axis)) product *= value.space[axis];
        }
        if (is_floating(node.type)) {
          return expr::emit_constant(static_cast<double>(product), node.type);
        }
        return expr::emit_constant(product, node.type);
      }
      default: return {};
    }
  };
  const expr::Program program{.nodes = value.code.nodes, .stores = {}};
  lines(expr::emit_cuda(program, {.nodes = needed, .stores = {}, .given = given, .results = {id}}));
}

void KernelWriter::evaluate(const Value& value, const Distribution& space, const Extents& wanted,
                            DType dtype, const std::function<void(const std::string& value)>& use) {
  const Distribution over = slice_of(space, wanted);
  if (value.code.is_known()) {
    open_values(over.values());
    use(known_text(value.code.literal, dtype));
    close();
    return;
  }
  Evaluation evaluation{.value = value,
                        .space = space,
                        .shapes = shapes_of(value.code, value.space, plan_.code.tiles),
                        .operands = {},
                        .made = {},
                        .made_over = {}};
  for (std::size_t n = 0; n < value.code.nodes.size(); ++n) {
    const Node& node = value.code.nodes[n];
    if (node.op != Op::load) continue;
    evaluation.operands.emplace(
        static_cast<NodeId>(n),
        operand(node.source, slice_of(space, slot(node.source).type.shape)));
  }
  for (std::size_t n = 0; n < value.code.nodes.size(); ++n) {
    const auto id = static_cast<NodeId>(n);
    if (expr::is_reduction(value.code.nodes[n].op)) reduce(evaluation, id);
    if (expr::is_scan(value.code.nodes[n].op)) scan(evaluation, id);
  }
  open_values(over.values());
  statements(evaluation, value.code.value, over);
  use("v" + std::to_string(value.code.value));
  close();
}

KernelWriter::Array KernelWriter::evaluated(const Value& value, const Distribution& space,
                                            DType dtype) {
  const Array made = declare(dtype, space);
  evaluate(value, space, space.shape, dtype, [&](const std::string& text) {
    line(made.name + "[i] = " + stored_text(text, dtype) + ";");
  });
  return made;
}

}  // namespace tilejit::program
