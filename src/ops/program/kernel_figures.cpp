#include "program/kernel_figures.hpp"

#include <vector>

#include "core/json_line.hpp"
#include "device/device.hpp"
#include "device/occupancy.hpp"
#include "program/check.hpp"
#include "tilejit/error.hpp"
#include "tilejit/layout_functions.hpp"

namespace tilejit::program {
namespace {

using operation::LaunchShape;

std::optional<std::int64_t> blocks_of(const LaunchShape& shape, const SymbolValues& symbols) {
  std::int64_t product = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& number = shape.numbers[LaunchShape::grid + i];
    std::vector<std::int64_t> values;
    for (const std::string& name : number.names()) {
      const auto found = symbols.find(name);
      if (found == symbols.end()) return std::nullopt;
      values.push_back(found->second);
    }
    try {
      if (__builtin_mul_overflow(product, number.evaluate(values), &product)) return std::nullopt;
    } catch (const Error&) {
      return std::nullopt;  // no launch is like that
    }
  }
  return product;
}

/// Each element once; twice if it is read and written. A mode of stride 0 has one element.
std::optional<std::int64_t> moved_bytes(const KernelPlan& plan, const SymbolValues& symbols) {
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

std::string numbers_text(const LaunchShape& shape, std::size_t first) {
  return "(" + shape.numbers[first].text() + ", " + shape.numbers[first + 1].text() + ", " +
         shape.numbers[first + 2].text() + ")";
}

std::string launch_sentence(const KernelPlan& plan, const KernelFigures& figures) {
  const LaunchShape& shape = plan.code.shape;
  return "The grid " + numbers_text(shape, LaunchShape::grid) + " has " +
         (figures.blocks ? std::to_string(*figures.blocks) : "? (of symbols)") +
         " blocks, the block " + std::to_string(figures.threads) + " threads and " +
         std::to_string(figures.shared_bytes) + " bytes of shared memory.";
}

/// "acc: f32 (64, 64): ((8,16),(8,4)):((8,64),(1,1024))", a tile each.
std::vector<std::string> tile_sentences(const KernelPlan& plan) {
  std::vector<std::string> sentences;
  for (std::size_t i = 0; i < plan.code.tiles.size(); ++i) {
    const TileSlot& tile = plan.code.tiles[i];
    std::string text = tile.name + ": " + std::string(tilejit::to_string(tile.type.dtype)) + ' ';
    if (plan.distributions[i]) {
      text += to_string(*plan.distributions[i]);
    } else {
      const SharedPlace& place = *plan.places[i];
      text += to_string(tile.type.shape) + " in shared: " + tilejit::to_string(place.layout);
      if (place.buffers > 1) text += ", " + std::to_string(place.buffers) + " buffers";
    }
    sentences.push_back(std::move(text));
  }
  return sentences;
}

}  // namespace

KernelFigures figures_of(const KernelPlan& plan, const SymbolValues& symbols) {
  return {.device = &device::device_of(plan.target),
          .blocks = blocks_of(plan.code.shape, symbols),
          .bytes_moved = moved_bytes(plan, symbols),
          .threads = plan.threads,
          .shared_bytes = plan.shared_bytes};
}

std::string figures_line(const KernelFigures& figures) {
  core::JsonLine line;
  line.open('{').member("device", figures.device->name);
  if (figures.blocks) line.member("blocks", *figures.blocks);
  line.member("threads", figures.threads).member("shared_bytes", figures.shared_bytes);
  if (figures.bytes_moved) line.member("bytes_moved", *figures.bytes_moved);
  return line.close('}').take();
}

std::string figures_text(const KernelPlan& plan, const KernelFigures& figures) {
  std::string text =
      "program: " + plan.program->name + ".\n" + launch_sentence(plan, figures) + '\n';
  for (const std::string& sentence : tile_sentences(plan)) text += "  " + sentence + '\n';
  for (const std::string& warning : plan.warnings) text += "warning: " + warning + '\n';
  if (figures.bytes_moved) text += std::to_string(*figures.bytes_moved) + " bytes moved\n";
  return text;
}

operation::Explanation explanation_of(const KernelPlan& plan, const KernelFigures& figures,
                                      const std::optional<operation::Compiled>& compiled) {
  operation::Explanation result;
  const auto add = [&](const char* topic, std::vector<std::string> sentences) {
    result.topics.push_back({.name = topic, .sentences = std::move(sentences)});
  };
  add("template", {"program: " + plan.program->name + "."});
  add("launch", {launch_sentence(plan, figures)});
  std::vector<std::string> constants;
  for (const TileConstant& constant : chosen_constants(*plan.program, plan.tuning)) {
    constants.push_back(constant.name + " = " + std::string(to_string(constant.value)) + ".");
  }
  if (!constants.empty()) add("constants", std::move(constants));
  add("tiles", tile_sentences(plan));
  device::BlockNeeds needs{.threads = figures.threads, .shared_bytes = figures.shared_bytes};
  if (compiled) {
    needs.registers = compiled->registers;
    needs.shared_bytes += compiled->static_bytes;
    add("registers", {std::to_string(compiled->registers) + " a thread, " +
                      std::to_string(compiled->spill_bytes) + " bytes spilled."});
    if (compiled->spill_bytes > 0) {
      result.advice.emplace_back(
          "Registers are spilled to memory; use more threads a block, or smaller tiles.");
    }
  }
  for (const std::string& warning : plan.warnings) result.advice.push_back(warning);
  result.occupancy = device::occupancy_of(*figures.device, needs);
  add("occupancy",
      {std::to_string(result.occupancy.blocks) + " blocks, " +
       std::to_string(result.occupancy.threads) + " threads a multiprocessor, " +
       std::to_string(static_cast<int>(result.occupancy.part * 100 + 0.5)) +
       " % of what it holds; limited by " + std::string(result.occupancy.limit) + '.'});
  if (figures.bytes_moved) {
    add("work", {std::to_string(*figures.bytes_moved) +
                 " bytes, if each element is moved once; loops may move more."});
  }
  return result;
}

}  // namespace tilejit::program
