#include "cuda/source.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <set>
#include <string_view>

#include "cuda/constants.hpp"
#include "expr/program.hpp"
#include "layout/emit.hpp"
#include "templates/templates.hpp"

namespace tilejit::cuda {
namespace {

using expr::storage_type;
using operation::Param;

/// The header of the tile library with that type; "types" for those that C++ has.
std::string_view header_of(DType dtype) {
  switch (dtype) {
    case b8: return "b8";
    case f16: return "f16";
    case bf16: return "bf16";
    case f8e4m3:
    case f8e5m2: return "f8";
    case tf32: return "tf32";
    default: return "types";
  }
}

std::string includes(const KernelPlan& plan) {
  std::set<std::string_view> headers = {"types"};
  for (const Tensor& tensor : plan.kernel->tensors) headers.insert(header_of(tensor.dtype));
  for (const CudaConstant& constant : plan.checked.constants) {
    const auto* const dtype = std::get_if<DType>(&constant.value);
    if (dtype != nullptr) headers.insert(header_of(*dtype));
  }
  std::string text;
  for (const std::string_view header : headers) {
    text += "#include \"tile/" + std::string(header) + ".cuh\"\n";
  }
  return text;
}

std::string number_text(const std::string& name, const Number& number) {
  if (!number.is_integer()) {
    return "constexpr float " + name + " = " + to_string(Number(number.to<float>())) + "f;\n";
  }
  if (number.exceeds_i64()) {
    return "constexpr unsigned long long " + name + " = " + to_string(number) + "ull;\n";
  }
  const bool narrow = number.bits() > INT32_MIN && number.bits() <= INT32_MAX;
  return std::string("constexpr ") + (narrow ? "int " : "long long ") + name + " = " +
         to_string(number) + (narrow ? ";\n" : "ll;\n");
}

std::string constant_text(const CudaConstant& constant) {
  const std::string& name = constant.name;
  if (const auto* const value = std::get_if<bool>(&constant.value)) {
    return "constexpr bool " + name + (*value ? " = true;\n" : " = false;\n");
  }
  if (const auto* const number = std::get_if<Number>(&constant.value)) {
    return number_text(name, *number);
  }
  if (const auto* const dtype = std::get_if<DType>(&constant.value)) {
    return "using " + name + " = " + std::string(storage_type(*dtype)) + ";\n";
  }
  return layout::emit_callable(name, std::get<ComposedLayout>(constant.value));
}

std::string field_text(const KernelPlan& plan, const Param& param) {
  switch (param.kind) {
    case Param::Kind::pointer: {
      const auto tensor = static_cast<std::size_t>(param.index);
      const bool written = plan.checked.access[tensor] != Access::in;
      return (written ? "  " : "  const ") + std::string(storage_type(param.dtype)) + "* " +
             param.name + ";\n";
    }
    case Param::Kind::scalar:
      return "  " + std::string(expr::compute_type(param.dtype)) + ' ' + param.name + ";\n";
    default: return "  i64 " + param.name + ";\n";
  }
}

/// The value of a dimension in a kernel that sets a tensor to 0.
std::string dim_text(const Dim& dim, const ZeroParams& params) {
  if (dim.is_known()) return std::to_string(dim.value()) + "ll";
  return "p." + std::ranges::find_if(params.params, [&](const Param& param) {
                  return param.kind == Param::Kind::dim && param.dim == dim;
                })->name;
}

std::string_view unsigned_of(DType dtype) {
  switch (size_bytes(dtype)) {
    case 1: return "unsigned char";
    case 2: return "unsigned short";
    case 4: return "unsigned";
    default: return "unsigned long long";
  }
}

/// A thread sets one element; leaves of the layout come colexicographically.
std::string zero_kernel(const KernelPlan& plan, const Tensor& tensor) {
  const std::string entry = zero_entry(plan, tensor);
  const ZeroParams params = zero_params(plan, tensor);
  std::string text = "struct " + entry + "_params {\n";
  for (const Param& param : params.params) {
    text +=
        "  " + (param.kind == Param::Kind::pointer ? std::string(unsigned_of(tensor.dtype)) + "*"
                                                   : std::string("long long"));
    text += ' ' + param.name + ";\n";
  }
  text += "};\nextern \"C\" __global__ void __launch_bounds__(" + std::to_string(kZeroThreads) +
          ") " + entry + "(const __grid_constant__ " + entry + "_params p) {\n";
  // The step may start early if the launch overlaps the kernel before it (LaunchOptions::overlap).
  if (plan.target.major >= 9) text += "  asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");\n";
  const layout::IndexStyle style{.dim = [&](const Dim& dim) { return dim_text(dim, params); }};
  return text +
         "  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
         "  if (i < p.total) p.y[" +
         layout::emit(ComposedLayout(tensor.layout), std::array{std::string("i")}, style) +
         "] = 0;\n}\n";
}

}  // namespace

std::string write_header(const KernelPlan& plan) {
  std::string text = "// Generated by libtilejit for one kernel of the caller's.\n#pragma once\n\n";
  text += includes(plan) + "using namespace tile;\n\n";
  for (const CudaConstant& constant : plan.checked.constants) text += constant_text(constant);
  if (plan.kernel->args == CudaArguments::positional) return text;
  text += "\nstruct Params {\n";
  for (const Param& param : plan.params) text += field_text(plan, param);
  return text + "};\nstatic_assert(sizeof(Params) == " + std::to_string(plan.params_bytes) +
         ", \"the host packs the same bytes\");\n";
}

operation::Source write_source(const KernelPlan& plan) {
  const Resolved& kernel = *plan.kernel;
  operation::Source source{.name = kernel.source.string(), .text = {}, .headers = {}, .own = true};
  for (const Tensor* const tensor : zeroed_tensors(plan)) {
    source.text += zero_kernel(plan, *tensor);
  }
  // Messages and profilers then name the caller's lines.
  if (!source.text.empty()) source.text += "#line 1 \"" + source.name + "\"\n";
  source.text += kernel.text;
  source.headers = kernel.headers;
  for (const templates::Template& file : templates::tile_library()) {
    source.headers.emplace_back(std::string(file.name), std::string(file.text));
  }
  source.headers.emplace_back("plan.cuh", write_header(plan));
  return source;
}

std::vector<std::string> compiler_options(const KernelPlan& plan) {
  std::vector<std::string> options = plan.kernel->options;
  if (!plan.kernel->toolkit) return options;
  for (const std::string& folder : plan.kernel->toolkit->folders) {
    options.push_back("--include-path=" + folder);
  }
  return options;
}

}  // namespace tilejit::cuda
