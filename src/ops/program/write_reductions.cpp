// Reductions and scans.
#include <algorithm>
#include <bit>

#include "program/kernel_evaluation.hpp"
#include "program/kernel_text.hpp"
#include "program/kernel_writer.hpp"

namespace tilejit::program {

using expr::Node;
using expr::NodeId;
using expr::Op;

namespace {

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

void KernelWriter::reduce(Evaluation& evaluation, NodeId id) {
  const Value& value = evaluation.value;
  const Node& node = value.node(id);
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
  const DType compared = value.node(of).type;
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
  const Node& node = value.node(id);
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
