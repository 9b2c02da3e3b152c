#include "cuda/figures.hpp"

#include <algorithm>
#include <vector>

#include "core/integer.hpp"
#include "core/json_line.hpp"
#include "cuda/constants.hpp"
#include "device/occupancy.hpp"
#include "tilejit/error.hpp"
#include "tilejit/layout_functions.hpp"

namespace tilejit::cuda {
namespace {

using operation::LaunchShape;

/// The value of a number of the launch; nothing if a symbol has none, or if no launch is like that.
std::optional<std::int64_t> number_of(const LaunchShape& shape, std::size_t i,
                                      const SymbolValues& symbols) {
  std::vector<std::int64_t> values;
  for (const std::string& name : shape.numbers[i].names()) {
    const auto found = symbols.find(name);
    if (found == symbols.end()) return std::nullopt;
    values.push_back(found->second);
  }
  try {
    const std::int64_t value = shape.numbers[i].evaluate(values);
    operation::check_launch_number(shape, i, value);
    return value;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<std::int64_t> product_of(const LaunchShape& shape, std::size_t first,
                                       const SymbolValues& symbols) {
  std::int64_t product = 1;
  for (std::size_t i = first; i < first + 3; ++i) {
    const auto value = number_of(shape, i, symbols);
    if (!value || __builtin_mul_overflow(product, *value, &product)) return std::nullopt;
  }
  return product;
}

/// Each element once; twice if it is read and written. A mode of stride 0 has one element.
std::optional<std::int64_t> bytes_of(const KernelPlan& plan, const SymbolValues& symbols) {
  std::int64_t total = 0;
  try {
    for (const Tensor& tensor : plan.signature.tensors) {
      const Layout layout = substitute(tensor.layout, symbols);
      std::int64_t bytes = size_bytes(tensor.dtype) * (tensor.access == Access::inout ? 2 : 1);
      for (const Mode& leaf : layout.leaves()) {
        const bool repeats = leaf.stride.is(0) && !leaf.extent.is(0);
        if (!repeats && __builtin_mul_overflow(bytes, leaf.extent.value(), &bytes)) return {};
      }
      if (__builtin_add_overflow(total, bytes, &total)) return {};
    }
  } catch (const Error&) {
    return std::nullopt;  // a symbol has no value
  }
  return total;
}

std::string or_unknown(const std::optional<std::int64_t>& value) {
  return value ? std::to_string(*value) : std::string("? (of symbols)");
}

std::string extents_text(const LaunchShape& shape, std::size_t first) {
  std::string text;
  for (std::size_t i = first; i < first + 3; ++i) {
    text += (text.empty() ? "(" : ", ") + shape.numbers[i].text();
  }
  return text + ')';
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
  return "The grid " + extents_text(shape, LaunchShape::grid) + " has " +
         or_unknown(figures.blocks) + " blocks, the block " +
         extents_text(shape, LaunchShape::block) + " has " + or_unknown(figures.threads) +
         " threads.";
}

std::string occupancy_sentence(const device::Occupancy& occupancy) {
  return std::to_string(occupancy.blocks) + " blocks, " + std::to_string(occupancy.threads) +
         " threads a multiprocessor, " +
         std::to_string(static_cast<int>(occupancy.part * 100 + 0.5)) +
         " % of what it holds; limited by " + std::string(occupancy.limit) + '.';
}

}  // namespace

KernelFigures figures_of(const KernelPlan& plan, const SymbolValues& symbols) {
  const LaunchShape& shape = plan.checked.shape;
  return {.device = &device::device_of(plan.target),
          .blocks = product_of(shape, LaunchShape::grid, symbols),
          .threads = product_of(shape, LaunchShape::block, symbols),
          .shared_bytes = number_of(shape, LaunchShape::shared, symbols),
          .bytes_moved = bytes_of(plan, symbols)};
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
  add("occupancy", {occupancy_sentence(result.occupancy)});
  if (figures.bytes_moved) {
    add("work", {std::to_string(*figures.bytes_moved) +
                 " bytes, if each element is moved once; what the kernel computes is unknown."});
  }
  return result;
}

std::string class_of(const KernelPlan& plan) {
  const Resolved& kernel = *plan.kernel;
  std::string text = "cuda " + kernel.entry + ' ' + kernel.digest.substr(0, 16);
  for (const Tensor& tensor : kernel.tensors) {
    ((text += ' ') += to_string(tensor.dtype)) += ':';
    for (const Mode& leaf : tensor.layout.leaves()) {
      text += '/';
      // Numbers by their power of two; what symbols stand for is unknown.
      text += leaf.extent.is_known() ? std::to_string(core::power_of_two_from(leaf.extent.value()))
                                     : to_string(leaf.extent);
    }
  }
  return text;
}

}  // namespace tilejit::cuda
