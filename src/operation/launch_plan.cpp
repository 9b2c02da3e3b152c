#include "operation/launch_plan.hpp"

#include <algorithm>
#include <utility>

#include "operation/signature.hpp"
#include "tilejit/error.hpp"

namespace tilejit::operation {
namespace {

/// Why `param`, a tensor map of `step`, cannot be one; empty if it can.
std::string fault_of(const Param& param, const Step& step, std::size_t bases) {
  const bool aligned =
      param.offset % TensorMap::kAlignment == 0 && step.params_bytes % TensorMap::kAlignment == 0;
  if (param.size != TensorMap::kBytes || !aligned) {
    return "does not take 128 bytes that are aligned to 64 in a struct of a multiple of 64";
  }
  if (param.index < 0 || static_cast<std::size_t>(param.index) >= bases) {
    const bool of_tensor = param.map.base == TensorMap::Base::tensor;
    return std::string("is of ") + (of_tensor ? "tensor " : "workspace ") +
           std::to_string(param.index) + ", which does not exist";
  }
  return fault_of(param.map);
}

int alignment_of(const Param& param) noexcept {
  return param.kind == Param::Kind::tensor_map ? static_cast<int>(TensorMap::kAlignment)
                                               : std::min(param.size, 8);
}

/// The first byte behind all fields that is a multiple of `alignment`.
int end_of(const std::vector<Param>& params, int alignment) noexcept {
  const int end = params.empty() ? 0 : params.back().offset + params.back().size;
  return (end + alignment - 1) / alignment * alignment;
}

}  // namespace

void append_field(std::vector<Param>& params, Param param) {
  param.offset = end_of(params, alignment_of(param));
  params.push_back(std::move(param));
}

int struct_bytes(const std::vector<Param>& params) noexcept {
  int alignment = 1;
  for (const Param& param : params) alignment = std::max(alignment, alignment_of(param));
  return end_of(params, alignment);
}

int scalar_bytes(DType dtype) noexcept {
  return is_floating(dtype) && dtype != f64 ? 4 : size_bytes(dtype);
}

bool has_tensor_maps(const Step& step) noexcept {
  return std::ranges::find(step.params, Param::Kind::tensor_map, &Param::kind) != step.params.end();
}

void check_tensor_maps(const Signature& signature, const LaunchPlan& plan) {
  for (const Step& step : plan.steps) {
    for (const Param& param : step.params) {
      if (param.kind != Param::Kind::tensor_map) continue;
      const bool of_tensor = param.map.base == TensorMap::Base::tensor;
      const std::size_t bases = of_tensor ? signature.tensors.size() : plan.workspaces.size();
      const std::string fault = fault_of(param, step, bases);
      if (fault.empty()) continue;
      throw Error(ErrorCode::unsupported, "the tensor map '" + param.name + "' of the kernel " +
                                              step.entry + " " + fault + "; correct the plan");
    }
  }
}

}  // namespace tilejit::operation
