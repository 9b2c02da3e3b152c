#include <nlohmann/json.hpp>

#include "plan/plan.hpp"

namespace tilejit::plan {
namespace {

using Json = nlohmann::ordered_json;

/// "4096:1", or "(4,2):(1,8)" where the tensor decomposes the coordinate by itself.
std::string text_of(const OperandMode& leaves) {
  std::vector<IntTuple> shape, stride;
  for (const Mode& leaf : leaves) {
    shape.emplace_back(leaf.extent);
    stride.emplace_back(leaf.stride);
  }
  if (leaves.size() == 1) return to_string(Layout(shape[0], stride[0]));
  return to_string(Layout(IntTuple::tuple(shape), IntTuple::tuple(stride)));
}

Json operand_json(const Operand& operand) {
  Json modes = Json::array();
  for (const OperandMode& mode : operand.modes) modes.push_back(text_of(mode));
  return {{"tensor", operand.tensor},
          {"dtype", to_string(operand.dtype)},
          {"access", operand.read ? (operand.written ? "inout" : "in") : "out"},
          {"reach", to_string(operand.reach)},
          {"access_bytes", operand.access_bytes},
          {"modes", modes}};
}

std::string_view kind_name(Param::Kind kind) {
  switch (kind) {
    case Param::Kind::pointer: return "pointer";
    case Param::Kind::scalar: return "scalar";
    case Param::Kind::total: return "total";
    case Param::Kind::dim: return "dim";
    case Param::Kind::divisor: return "divisor";
  }
  return "unknown";
}

Json param_json(const Param& param) {
  Json json = {{"name", param.name}, {"kind", kind_name(param.kind)}, {"offset", param.offset}};
  if (param.kind == Param::Kind::scalar) json["dtype"] = to_string(param.dtype);
  if (param.kind == Param::Kind::dim) json["value"] = to_string(param.dim);
  if (param.kind == Param::Kind::divisor) {
    json["value"] = param.per == 1
                        ? to_string(param.dim)
                        : "ceil(" + to_string(param.dim) + "/" + std::to_string(param.per) + ")";
  }
  return json;
}

}  // namespace

std::string_view to_string(Reach reach) noexcept {
  switch (reach) {
    case Reach::contiguous: return "contiguous";
    case Reach::broadcast: return "broadcast";
    case Reach::strided: return "strided";
  }
  return "unknown";
}

std::string_view to_string(IndexWidth width) noexcept {
  switch (width) {
    case IndexWidth::narrow: return "narrow";
    case IndexWidth::wide: return "wide";
    case IndexWidth::both: return "both";
  }
  return "unknown";
}

std::string to_json(const Plan& plan, int indent) {
  Json extents = Json::array();
  for (const Dim& extent : plan.extents) extents.push_back(to_string(extent));
  Json operands = Json::array();
  for (const Operand& operand : plan.operands) operands.push_back(operand_json(operand));
  Json params = Json::array();
  for (const Param& param : plan.params) params.push_back(param_json(param));
  const Json json = {{"template", "fused_map"},
                     {"kernel", plan.kernel_name},
                     {"target", tilejit::to_string(plan.target)},
                     {"extents", extents},
                     {"operands", operands},
                     {"threads", plan.threads},
                     {"vector", plan.vector},
                     {"unroll", plan.unroll},
                     {"ragged", plan.ragged},
                     {"index", to_string(plan.index)},
                     {"params", params},
                     {"params_bytes", plan.params_bytes},
                     {"program", expr::to_lines(plan.program)}};
  return json.dump(indent);
}

}  // namespace tilejit::plan
