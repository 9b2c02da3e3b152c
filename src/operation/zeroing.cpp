#include "operation/zeroing.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "layout/emit.hpp"

namespace tilejit::operation {
namespace {

constexpr int kZeroThreads = 256;

/// The address, the number of elements, and the dimensions of the layout that are no numbers.
std::vector<Param> zero_params(const Tensor& tensor, int index) {
  std::vector<Param> params;
  append_field(params, {.kind = Param::Kind::pointer, .index = index, .name = "y"});
  append_field(params, {.kind = Param::Kind::total, .name = "total"});
  const auto add = [&](const Dim& dim) {
    const bool present = std::ranges::any_of(params, [&](const Param& param) {
      return param.kind == Param::Kind::dim && param.dim == dim;
    });
    if (dim.is_known() || present) return;
    const std::string name = "d" + std::to_string(params.size() - 2);
    append_field(params, {.kind = Param::Kind::dim, .dim = dim, .name = name});
  };
  for (const Mode& leaf : tensor.layout.leaves()) {
    add(leaf.extent);
    add(leaf.stride);
  }
  return params;
}

std::string dim_text(const Dim& dim, const std::vector<Param>& params) {
  if (dim.is_known()) return std::to_string(dim.value()) + "ll";
  return "p." + std::ranges::find_if(params, [&](const Param& param) {
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

}  // namespace

Step zero_step(const std::string& entry, const Tensor& tensor, int index) {
  std::vector<Param> params = zero_params(tensor, index);
  const int bytes = struct_bytes(params);
  Step step{.entry = entry,
            .grid = {.units_per_block = kZeroThreads},
            .threads = kZeroThreads,
            .params = std::move(params),
            .params_bytes = bytes};
  for (const Mode& leaf : tensor.layout.leaves()) step.grid.units.push_back({leaf.extent, 1});
  return step;
}

std::string zero_kernel(const std::string& entry, const Tensor& tensor, const Target& target) {
  const std::vector<Param> params = zero_params(tensor, 0);
  std::string text = "struct " + entry + "_params {\n";
  for (const Param& param : params) {
    text +=
        "  " + (param.kind == Param::Kind::pointer ? std::string(unsigned_of(tensor.dtype)) + "*"
                                                   : std::string("long long"));
    text += ' ' + param.name + ";\n";
  }
  text += "};\nextern \"C\" __global__ void __launch_bounds__(" + std::to_string(kZeroThreads) +
          ") " + entry + "(const __grid_constant__ " + entry + "_params p) {\n";
  // The step may start early if the launch overlaps the kernel before it (LaunchOptions::overlap).
  if (target.major >= 9) text += "  asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");\n";
  const layout::IndexStyle style{.dim = [&](const Dim& dim) { return dim_text(dim, params); }};
  // A thread sets one element; leaves of the layout come colexicographically.
  return text +
         "  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
         "  if (i < p.total) p.y[" +
         layout::emit(ComposedLayout(tensor.layout), std::array{std::string("i")}, style) +
         "] = 0;\n}\n";
}

}  // namespace tilejit::operation
