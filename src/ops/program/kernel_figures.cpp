#include "program/kernel_figures.hpp"

#include <vector>

#include "core/json_line.hpp"
#include "device/device.hpp"
#include "device/occupancy.hpp"
#include "operation/launch_numbers.hpp"
#include "program/check.hpp"

namespace tilejit::program {
namespace {

using operation::LaunchShape;

std::string launch_sentence(const KernelPlan& plan, const KernelFigures& figures) {
  const LaunchShape& shape = plan.code.shape;
  return "The grid " + operation::launch_text(shape, LaunchShape::grid) + " has " +
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
          .blocks = operation::launch_product(plan.code.shape, LaunchShape::grid, symbols),
          .bytes_moved = operation::bytes_moved(plan.signature.tensors, symbols),
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
  add("occupancy", {operation::occupancy_text(result.occupancy)});
  if (figures.bytes_moved) {
    add("work", {std::to_string(*figures.bytes_moved) +
                 " bytes, if each element is moved once; loops may move more."});
  }
  return result;
}

}  // namespace tilejit::program
