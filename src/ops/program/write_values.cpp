// Expressions over tiles, reductions and scans.
#include <algorithm>
#include <bit>

#include "program/kernel_text.hpp"
#include "program/kernel_writer.hpp"

namespace tilejit::program {

using expr::Node;
using expr::NodeId;
using expr::Op;

namespace {

const Node& node_of(const Value& value, NodeId id) {
  return value.code.nodes[static_cast<std::size_t>(id)];
}

/// The type in which threads combine values of `type`: at least four bytes.
std::string combined_type(DType type) {
  return size_bytes(type) < 4 && !is_floating(type) ? "i32" : std::string(expr::compute_type(type));
}

/// A value that changes no combination; of extrema of floats NaN, which they ignore.
std::string neutral(const Node& node) {
  const std::string type = combined_type(node.type);
  const bool floating = is_floating(node.type);
  const bool is_double = node.type == f64;
  switch (node.op) {
    case Op::reduce_prod:
    case Op::scan_prod: return type + "(1)";
    case Op::reduce_all: return "1";
    case Op::reduce_min:
    case Op::reduce_max:
      if (floating) return is_double ? "math::nan_f64()" : "math::nan_f32()";
      return node.op == Op::reduce_min ? greatest_text(node.type) : least_text(node.type);
    case Op::scan_min:
      if (floating) return is_double ? "math::inf_f64()" : "math::inf_f32()";
      return greatest_text(node.type);
    case Op::scan_max:
      if (floating) return is_double ? "-math::inf_f64()" : "-math::inf_f32()";
      return least_text(node.type);
    case Op::reduce_any: return "0";
    default: return floating ? "-" + type + "(0)" : type + "(0)";
  }
}

}  // namespace

/// What is written of one expression.
struct KernelWriter::Evaluation {
  const Value& value;
  Distribution space;
  std::vector<Extents> shapes;         // of the nodes
  std::map<NodeId, Array> operands;    // of loads from tiles
  std::map<NodeId, std::string> made;  // arrays of reductions and scans
  std::map<NodeId, Extents> made_over;
};

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
  const Node& last = node_of(value, code.value);
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
    const Node& node = node_of(value, of);
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

void KernelWriter::reduce(Evaluation& evaluation, NodeId id) {
  const Value& value = evaluation.value;
  const Node& node = node_of(value, id);
  const NodeId of = node.args[0];
  // Values that do not vary along a reduced axis count once for each element of it.
  Extents shape = evaluation.shapes[static_cast<std::size_t>(of)];
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (expr::has_axis(node.axes, axis)) shape[axis] = value.space[axis];
  }
  const Extents& result = evaluation.shapes[static_cast<std::size_t>(id)];
  const Distribution over = slice_of(evaluation.space, shape);
  const std::int64_t results = slice_of(over, result).values();
  const std::string index = slice_index(over, result, "i");
  const std::string is_inside = inside(over, "i");
  const std::string name = fresh("c");
  const bool finds = expr::finds_place(node.op);
  const DType compared = node_of(value, of).type;
  const std::string type =
      finds ? "Placed<" + combined_type(compared) + ">" : combined_type(node.type);
  headers_.insert("across_threads");
  line(type + " " + name + "[" + std::to_string(results) + "];");
  open_values(results);
  line(name + "[i] = " + (finds ? type + "{0, -1}" : neutral(node)) + ";");
  close();
  open_values(over.values());
  const std::string element = "v" + std::to_string(of);
  statements(evaluation, of, over);
  std::string combine;
  std::string text;
  if (finds) {
    const char* const function = node.op == Op::reduce_argmax ? "first_greatest" : "first_least";
    combine = std::string("return ") + function + "(a, b);";
    std::string place;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (!expr::has_axis(node.axes, axis)) continue;
      const std::string at = "(" + coordinate(over, static_cast<int>(axis), "i") + ")";
      place =
          place.empty() ? at : "(" + place + " * " + std::to_string(shape[axis]) + " + " + at + ")";
    }
    text = name + "[" + index + "] = " + function + "(" + name + "[" + index + "], " + type + "{" +
           combined_type(compared) + "(" + element + "), " +
           (is_floating(compared) ? element + " == " + element + " ? i64(" + place + ") : -1"
                                  : "i64(" + place + ")") +
           "});";
  } else {
    const std::string both = expr::emit_combination(node, "a", "b");
    combine = "return " + both + ";";
    text = name + "[" + index + "] = " +
           expr::emit_combination(node, name + "[" + index + "]",
                                  combined_type(node.type) + "(" + element + ")") +
           ";";
  }
  line(is_inside == "true" ? text : "if (" + is_inside + ") " + text);
  close();
  const std::int64_t bytes = finds ? 16 : std::max(4, size_bytes(node.type));
  combine_threads(over, node.axes, name, type, bytes, results, combine);
  std::string array = name;
  if (finds) {
    array = fresh("c");
    line("i64 " + array + "[" + std::to_string(results) + "];");
    open_values(results);
    line(array + "[i] = " + name + "[i].place < 0 ? 0 : " + name + "[i].place;");
    close();
  }
  evaluation.made.emplace(id, array);
  evaluation.made_over.emplace(id, result);
}

void KernelWriter::combine_threads(const Distribution& of, std::uint32_t axes,
                                   const std::string& name, const std::string& type,
                                   std::int64_t type_bytes, std::int64_t values,
                                   const std::string& combine) {
  struct Part {
    std::int64_t place = 1, extent = 1;
  };
  std::vector<Part> parts;
  std::int64_t before = 1;
  bool powers = plan_.threads % 32 == 0;
  for (const Distribution::Digit& digit : of.of_thread) {
    powers = powers && std::has_single_bit(static_cast<std::uint64_t>(digit.extent));
    if (digit.axis >= 0 && expr::has_axis(axes, static_cast<std::size_t>(digit.axis))) {
      parts.push_back({before, digit.extent});
    }
    before *= digit.extent;
  }
  if (parts.empty()) return;
  const std::string both = fresh("both");
  line("const auto " + both + " = [](const " + type + "& a, const " + type + "& b) -> " + type +
       " { " + combine + " };");
  if (powers) {
    std::int64_t mask = 0;
    std::vector<Part> others;
    for (Part part : parts) {
      for (; part.extent > 1 && part.place < 32; part.place *= 2, part.extent /= 2)
        mask |= part.place;
      if (part.extent > 1) others.push_back(part);
    }
    if (mask != 0) line("combine_lanes<" + std::to_string(mask) + ">(" + name + ", " + both + ");");
    parts = std::move(others);
    if (parts.empty()) return;
  }
  // The others meet in shared memory: value i of thread t is number i * threads + t. Two places
  // take turns, so that the barrier between writing and reading one is enough for the other.
  const std::int64_t threads = before;
  const std::string shared = fresh("m");
  exchange_bytes_ = std::max(exchange_bytes_, values * threads * type_bytes);
  exchange_ = 1 - exchange_;
  const Hazards::Object place = Hazards::exchange(exchange_);
  before_write(place);
  line(type + "* const " + shared + " = reinterpret_cast<" + type + "*>(exchange" +
       std::to_string(exchange_) + ");");
  std::string number = before < plan_.threads ? "tid % " + std::to_string(threads) : "tid";
  if (before < plan_.threads) {
    open("if (tid < " + std::to_string(threads) + ") {");
  }
  open_values(values);
  line(shared + "[i * " + std::to_string(threads) + " + tid] = " + name + "[i];");
  close();
  if (before < plan_.threads) close();
  hazards_.write(place);
  before_read(place);
  std::string first = number;
  std::int64_t count = 1;
  for (const Part& part : parts) {
    first += " - " + number + " / " + std::to_string(part.place) + " % " +
             std::to_string(part.extent) + " * " + std::to_string(part.place);
    count *= part.extent;
  }
  const std::string base = fresh("t");
  line("const int " + base + " = " + first + ";");
  open_values(values);
  line(name + "[i] = " + shared + "[i * " + std::to_string(threads) + " + " + base + "];");
  line(count > 8 ? "#pragma unroll 4" : "#pragma unroll");
  open("for (int j = 1; j < " + std::to_string(count) + "; ++j) {");
  std::string other = base;
  std::int64_t below = 1;
  for (const Part& part : parts) {
    other += " + j / " + std::to_string(below) + " % " + std::to_string(part.extent) + " * " +
             std::to_string(part.place);
    below *= part.extent;
  }
  line(name + "[i] = " + both + "(" + name + "[i], " + shared + "[i * " + std::to_string(threads) +
       " + " + other + "]);");
  close();
  close();
  hazards_.read(place);
}

/// Lines of the tile lie in shared memory; a thread scans one after another.
void KernelWriter::scan(Evaluation& evaluation, NodeId id) {
  const Value& value = evaluation.value;
  const Node& node = node_of(value, id);
  const NodeId of = node.args[0];
  const Extents& shape = evaluation.shapes[static_cast<std::size_t>(id)];
  const Distribution over = slice_of(evaluation.space, shape);
  const std::string type = combined_type(node.type);
  const std::int64_t bytes = std::max(4, size_bytes(node.type));
  const std::int64_t count = count_of(shape);
  std::size_t axis = 0;
  while (!expr::has_axis(node.axes, axis)) ++axis;
  std::int64_t stride = 1;
  for (std::size_t i = axis + 1; i < shape.size(); ++i) stride *= shape[i];
  const std::int64_t extent = shape[axis];
  // Lines begin an odd number of elements apart, so that threads meet in no bank.
  const std::int64_t line_length = stride == 1 && extent % 2 == 0 ? extent + 1 : extent;
  scratch_bytes_ = std::max(scratch_bytes_, count / extent * line_length * bytes);
  const std::string shared = fresh("m");
  std::string index;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::string at = coordinate(over, static_cast<int>(i), "i");
    const std::int64_t length = stride == 1 && i == axis ? line_length : shape[i];
    index = index.empty() ? at : "(" + index + ") * " + std::to_string(length) + " + " + at;
  }
  if (index.empty()) index = "0";
  before_write(Hazards::kScratch);
  line(type + "* const " + shared + " = reinterpret_cast<" + type + "*>(scratch);");
  open_values(over.values());
  statements(evaluation, of, over);
  const std::string is_inside = inside(over, "i");
  line((is_inside == "true" ? "" : "if (" + is_inside + ") ") + shared + "[" + index + "] = v" +
       std::to_string(of) + ";");
  close();
  hazards_.write(Hazards::kScratch);
  before_read(Hazards::kScratch);
  line("#pragma unroll 1");
  open("for (int l = tid; l < " + std::to_string(count / extent) +
       "; l += " + std::to_string(plan_.threads) + ") {");
  line(type + "* const line = " + shared + " + " +
       (stride == 1 ? "l * " + std::to_string(line_length)
                    : "l / " + std::to_string(stride) + " * " + std::to_string(stride * extent) +
                          " + l % " + std::to_string(stride)) +
       ";");
  line(type + " all = " + neutral(node) + ";");
  line("#pragma unroll 1");
  open("for (int j = 0; j < " + std::to_string(extent) + "; ++j) {");
  const std::string place = node.reverse ? std::to_string(extent - 1) + " - j" : "j";
  line(type + "& at = line[(" + place + ") * " + std::to_string(stride) + "];");
  line("const " + type + " next = j == 0 ? " + type +
       "(at) : " + expr::emit_combination(node, "all", "at") + ";");
  line(node.exclusive ? "at = all;" : "at = next;");
  line("all = next;");
  close();
  close();
  hazards_.write(Hazards::kScratch);
  before_read(Hazards::kScratch);
  const std::string name = fresh("c");
  line(type + " " + name + "[" + std::to_string(over.values()) + "];");
  open_values(over.values());
  line((is_inside == "true" ? "" : "if (" + is_inside + ") ") + name + "[i] = " + shared + "[" +
       index + "];");
  close();
  hazards_.read(Hazards::kScratch);
  evaluation.made.emplace(id, name);
  evaluation.made_over.emplace(id, shape);
}

}  // namespace tilejit::program
