#include "cuda/figures.hpp"

#include <algorithm>
#include <vector>

#include "core/json_line.hpp"
#include "cuda/constants.hpp"
#include "device/occupancy.hpp"
#include "operation/launch_numbers.hpp"
#include "operation/tensor_class.hpp"

namespace tilejit::cuda {
namespace {

using operation::LaunchShape;

std::string or_unknown(const std::optional<std::int64_t>& value) {
  return value ? std::to_string(*value) : std::string("? (of symbols)");
}

/// "1 file", "2 files"
std::string count_of(std::size_t count, const std::string& what) {
  return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

std::string source_sentence(const Resolved& kernel) {
  std::string text = "cuda: kernel " + kernel.entry + " of " + kernel.source.string() + ", " +
                     std::to_string(kernel.text.size()) + " bytes";
  if (!kernel.headers.empty()) {
    text += ", and includes " + count_of(kernel.headers.size(), "file");
  }
  if (kernel.toolkit) text += ", with the headers of CUDA " + kernel.toolkit->version;
  return text + '.';
}

std::string launch_sentence(const LaunchShape& shape, const KernelFigures& figures) {
  return "The grid " + operation::launch_text(shape, LaunchShape::grid) + " has " +
         or_unknown(figures.blocks) + " blocks, the block " +
         operation::launch_text(shape, LaunchShape::block) + " has " + or_unknown(figures.threads) +
         " threads.";
}

}  // namespace

KernelFigures figures_of(const KernelPlan& plan, const SymbolValues& symbols) {
  const LaunchShape& shape = plan.checked.shape;
  return {.device = &device::device_of(plan.target),
          .blocks = operation::launch_product(shape, LaunchShape::grid, symbols),
          .threads = operation::launch_product(shape, LaunchShape::block, symbols),
          .shared_bytes = operation::launch_number(shape, LaunchShape::shared, symbols),
          .bytes_moved = operation::bytes_moved(plan.signature.tensors, symbols)};
}

std::string figures_line(const KernelFigures& figures) {
  core::JsonLine line;
  line.open('{').member("device", figures.device->name);
  const auto add = [&](const char* name, const std::optional<std::int64_t>& value) {
    if (value) line.member(name, *value);
  };
  add("blocks", figures.blocks);
  add("threads", figures.threads);
  add("shared_bytes", figures.shared_bytes);
  add("bytes_moved", figures.bytes_moved);
  return line.close('}').take();
}

std::string figures_text(const KernelPlan& plan, const KernelFigures& figures) {
  std::string text =
      source_sentence(*plan.kernel) + '\n' + launch_sentence(plan.checked.shape, figures) + '\n';
  if (figures.bytes_moved) text += std::to_string(*figures.bytes_moved) + " bytes moved\n";
  return text;
}

operation::Explanation explanation_of(const KernelPlan& plan, const KernelFigures& figures,
                                      const std::optional<operation::Compiled>& compiled) {
  const Resolved& kernel = *plan.kernel;
  operation::Explanation result;
  const auto add = [&](const char* topic, std::vector<std::string> sentences) {
    result.topics.push_back({.name = topic, .sentences = std::move(sentences)});
  };
  add("template", {source_sentence(kernel)});
  add("launch", {launch_sentence(plan.checked.shape, figures)});
  for (const CudaConstant& constant : plan.checked.constants) {
    if (constant.name == plan.checked.constants.front().name) add("constants", {});
    result.topics.back().sentences.push_back(constant.name + " = " + to_text(constant.value) + '.');
  }
  if (!kernel.zeroed.empty()) {
    add("zeroed",
        {"Before it, a kernel each sets " + count_of(kernel.zeroed.size(), "tensor") + " to 0."});
  }
  device::BlockNeeds needs{.threads = static_cast<int>(figures.threads.value_or(1024)),
                           .shared_bytes = figures.shared_bytes.value_or(0)};
  if (compiled) {
    needs.registers = compiled->registers;
    needs.shared_bytes += compiled->static_bytes;
    add("registers", {std::to_string(compiled->registers) + " a thread, " +
                      std::to_string(compiled->spill_bytes) + " bytes spilled."});
    if (compiled->spill_bytes > 0) {
      result.advice.emplace_back(
          "Registers are spilled to memory; use fewer threads a block, or less unrolling.");
    }
  }
  result.occupancy = device::occupancy_of(*figures.device, needs);
  add("occupancy", {operation::occupancy_text(result.occupancy)});
  if (figures.bytes_moved) {
    add("work", {std::to_string(*figures.bytes_moved) +
                 " bytes, if each element is moved once; what the kernel computes is unknown."});
  }
  return result;
}

std::string class_of(const KernelPlan& plan) {
  const Resolved& kernel = *plan.kernel;
  return "cuda " + kernel.entry + ' ' + kernel.digest.substr(0, 16) +
         operation::tensor_class(kernel.tensors);
}

}  // namespace tilejit::cuda
