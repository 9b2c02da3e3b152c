#include "core/json_line.hpp"
#include "plan/plan.hpp"

namespace tilejit::plan {
namespace {

using core::JsonLine;

/// "4096:1", or "(4,2):(1,8)" if the tensor decomposes the coordinate by itself.
std::string text_of(const OperandMode& leaves) {
  std::string shape, stride;
  for (const Mode& leaf : leaves) {
    ((shape += shape.empty() ? "" : ",") += to_string(leaf.extent));
    ((stride += stride.empty() ? "" : ",") += to_string(leaf.stride));
  }
  return leaves.size() == 1 ? shape + ":" + stride : "(" + shape + "):(" + stride + ")";
}

void write(JsonLine& line, const Operand& operand) {
  line.open('{')
      .member("tensor", operand.tensor)
      .member("dtype", to_string(operand.dtype))
      .member("access", operand.read ? (operand.written ? "inout" : "in") : "out")
      .member("reach", to_string(operand.reach))
      .member("access_bytes", operand.access_bytes)
      .key("modes")
      .open('[');
  for (const OperandMode& mode : operand.modes) line.value(text_of(mode));
  line.close(']');
  if (operand.every_row) line.key("every_row").raw("true");
  if (operand.per_row) line.key("per_row").raw("true");
  if (operand.combined) line.member("combined", expr::to_string(*operand.combined));
  if (operand.shifted) line.key("shifted").raw("true");
  if (operand.offset != 0) line.member("offset", operand.offset);
  line.close('}');
}

std::string_view kind_name(Param::Kind kind) {
  switch (kind) {
    case Param::Kind::pointer: return "pointer";
    case Param::Kind::scalar: return "scalar";
    case Param::Kind::total: return "total";
    case Param::Kind::dim: return "dim";
    case Param::Kind::divisor: return "divisor";
    case Param::Kind::workspace: return "workspace";
    case Param::Kind::tensor_map: return "tensor_map";
  }
  return "unknown";
}

void write(JsonLine& line, const Param& param) {
  line.open('{').member("name", param.name).member("kind", kind_name(param.kind));
  line.member("offset", param.offset);
  if (param.kind == Param::Kind::scalar) {
    line.member("dtype", to_string(param.dtype));
  } else if (param.kind == Param::Kind::dim || param.kind == Param::Kind::divisor) {
    const std::string dim = to_string(param.dim);
    line.member("value",
                param.per == 1 ? dim : "ceil(" + dim + "/" + std::to_string(param.per) + ")");
  } else if (param.kind == Param::Kind::tensor_map) {
    line.key("map").raw(operation::to_json(param.map));
  }
  line.close('}');
}

}  // namespace

std::string_view to_string(Reach reach) noexcept {
  switch (reach) {
    case Reach::contiguous: return "contiguous";
    case Reach::broadcast: return "broadcast";
    case Reach::transposed: return "transposed";
    case Reach::strided: return "strided";
    case Reach::product: return "product";
  }
  return "unknown";
}

namespace {

void write_parts(JsonLine& line, const Several& several) {
  line.key("temporaries").open('[');
  for (const Temporary& temporary : several.temporaries) {
    line.open('{').member("dtype", tilejit::to_string(temporary.dtype));
    line.member("elements", to_string(temporary.elements)).close('}');
  }
  line.close(']').key("parts").open('[');
  for (const Plan& part : several.parts) line.raw(to_json(part));
  line.close(']');
}

}  // namespace

std::string to_json(const Plan& plan) {
  JsonLine line;
  line.open('{').member("template", template_name(plan)).member("kernel", plan.kernel_name);
  line.member("target", tilejit::to_string(plan.target)).key("extents").open('[');
  for (const Dim& extent : plan.extents) line.value(to_string(extent));
  if (!plan.shape.empty()) {
    line.close(']').key("shape").open('[');
    for (const Dim& extent : plan.shape) line.value(to_string(extent));
  }
  line.close(']').key("operands").open('[');
  for (const Operand& operand : plan.operands) write(line, operand);
  if (!plan.places.empty()) {
    line.close(']').key("places").open('[');
    for (const Place& place : plan.places) {
      line.open('{').member("axes", place.axes).key("modes").open('[');
      for (const OperandMode& mode : place.modes) line.value(text_of(mode));
      line.close(']').close('}');
    }
  }
  line.close(']');
  std::visit([&](const auto& family) { family.write_json(line); }, plan.family);
  if (is_light(plan)) line.key("light").raw("true");
  const auto* const several = std::get_if<Several>(&plan.family);
  if (several == nullptr) {
    line.member("threads", plan.threads)
        .member("vector", plan.vector)
        .member("unroll", plan.unroll)
        .key("ragged")
        .raw(plan.ragged ? "true" : "false");
    if (plan.peeled) line.key("peeled").raw("true");
    line.member("index", to_string(index_of(plan)));
  }
  line.key("params").open('[');
  for (const Param& param : plan.params) write(line, param);
  line.close(']').member("params_bytes", plan.params_bytes).key("program").open('[');
  for (const std::string& text : expr::to_lines(plan.program)) line.value(text);
  line.close(']');
  if (!plan.tensors.empty()) {
    line.key("tensors").open('[');
    for (const int tensor : plan.tensors) line.raw(std::to_string(tensor));
    line.close(']');
  }
  if (several != nullptr) write_parts(line, *several);
  return line.close('}').take();
}

}  // namespace tilejit::plan
