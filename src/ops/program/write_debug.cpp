// Print and Assert.
#include <algorithm>

#include "program/kernel_text.hpp"
#include "program/kernel_writer.hpp"

namespace tilejit::program {
namespace {

constexpr std::int64_t kMostPrinted = 8;  // elements of an axis, as the interpreter prints

/// The format of a value in its compute type, and the value as printf takes it.
struct PrintedValue {
  std::string format, value;
};
PrintedValue printed_value(DType type, const std::string& value) {
  if (is_floating(type)) return {"%g", "double(" + value + ")"};
  if (type == u64) return {"%llu", "u64(" + value + ")"};
  return {"%lld", "i64(" + value + ")"};
}

}  // namespace

void KernelWriter::stage_printed(const Steps& steps) {
  for_each_step(steps, [&](const Step& step) {
    if (const auto* const print = std::get_if<PrintText>(&step.kind)) stage_printed(*print);
  });
}

void KernelWriter::stage_printed(const PrintText& step) {
  std::int64_t used = 0;
  for (const auto& [tile, place] : printed_) {
    used += cosize(place.layout.layout()) * size_bytes(place.dtype) + 128;
  }
  for (const auto& argument : step.arguments) {
    const int* const tile = std::get_if<int>(&argument);
    if (tile == nullptr || printed_.contains(*tile)) continue;
    if (is_shared(*tile)) {
      printed_.emplace(*tile, place(*tile));
      continue;
    }
    const TileType& type = slot(*tile).type;
    used = (used + 127) / 128 * 128;
    const Place made = scratch(type.dtype, type.shape, used);
    put(array(*tile), made);
    used += cosize(made.layout.layout()) * size_bytes(type.dtype);
    printed_.emplace(*tile, made);
  }
  for (const auto& [tile, place] : printed_) before_read(place.object);
}

/// "[[1, 2], [3, 4]]" by one thread.
void KernelWriter::print_tile(int tile) {
  const Place& from = printed_.at(tile);
  const Extents& shape = slot(tile).type.shape;
  Texts at;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const std::string i = "j" + std::to_string(axis);
    line("printf(\"[\");");
    open("for (int " + i + " = 0; " + i + " < " +
         std::to_string(std::min(shape[axis], kMostPrinted)) + "; ++" + i + ") {");
    line("if (" + i + " > 0) printf(\", \");");
    at.push_back(i);
  }
  const PrintedValue value =
      printed_value(from.dtype, "to_compute(" + from.pointer + "[" + index_in(from, at) + "])");
  line("printf(\"" + value.format + "\", " + value.value + ");");
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    close();
    line(std::string("printf(\"") + (shape[axis] > kMostPrinted ? ", ...]" : "]") + "\");");
  }
}

void KernelWriter::write_step(const PrintText& step) {
  const bool is_block = in_thread_ == 0;
  if (is_block) stage_printed(step);
  // Scalars first: their statements are the block's.
  Texts scalars;
  for (const auto& argument : step.arguments) {
    const auto* const value = std::get_if<Value>(&argument);
    scalars.push_back(value == nullptr ? std::string() : scalar(*value));
  }
  open(is_block ? "if (tid == 0) {" : "{");
  std::string format;
  std::string values;
  const auto flush = [&] {
    if (!format.empty()) line("printf(\"" + format + "\"" + values + ");");
    format.clear();
    values.clear();
  };
  std::size_t begin = 0;
  for (std::size_t i = 0; i < step.arguments.size(); ++i) {
    const std::size_t place = step.text.find("{}", begin);
    format += printed_text(std::string_view(step.text).substr(begin, place - begin));
    begin = place + 2;
    if (const int* const tile = std::get_if<int>(&step.arguments[i])) {
      flush();
      print_tile(*tile);
      continue;
    }
    const expr::Expression& code = std::get<Value>(step.arguments[i]).code;
    const DType type = code.is_known() ? expr::default_type(code.literal)
                                       : code.nodes[static_cast<std::size_t>(code.value)].type;
    const PrintedValue value = printed_value(type, scalars[i]);
    format += value.format;
    values += ", " + value.value;
  }
  format += printed_text(std::string_view(step.text).substr(begin)) + "\\n";
  flush();
  close();
  if (!is_block) return;
  for (const auto& [tile, place] : printed_) hazards_.read(place.object);
  printed_.clear();
}

void KernelWriter::write_step(const Check& step) {
  const std::string holds = condition(step.condition);
  const auto line_number = expr::line_number(plan_.code.text, at_->place.begin);
  line("if (!(" + holds + ")" + (in_thread_ > 0 ? "" : " && tid == 0") + ") note_failure(" +
       plan_.assertion_words() + ", " + std::to_string(plan_.assertions.size()) +
       ", block_x, block_y, block_z);");
  headers_.insert("assertion");
  plan_.assertions.push_back(
      {.place = "program '" + plan_.program->name + "' line " + std::to_string(line_number),
       .message = step.message});
}

}  // namespace tilejit::program
