#include "program/program_body.hpp"

#include "operation/tensor_class.hpp"
#include "operation/zeroing.hpp"
#include "program/kernel_figures.hpp"
#include "templates/templates.hpp"

namespace tilejit::program {

operation::Source ProgramBody::source() const {
  operation::Source source{.name = plan_.entry + ".cu", .text = {}, .headers = {}};
  for (const std::string& name : plan_.program->zeroed) {
    for (const Tensor& tensor : plan_.signature.tensors) {
      if (tensor.name != name) continue;
      source.text += operation::zero_kernel(plan_.entry + "_zero_" + name, tensor, plan_.target);
    }
  }
  source.text += plan_.text;
  for (const templates::Template& file : templates::tile_library()) {
    source.headers.emplace_back(std::string(file.name), std::string(file.text));
  }
  return source;
}

std::string ProgramBody::tuning_class() const {
  return "program " + plan_.program->name + operation::tensor_class(plan_.signature.tensors);
}

operation::Figures ProgramBody::figures(const SymbolValues& symbols) const {
  const KernelFigures own = figures_of(plan_, symbols);
  // Loops decide what a program computes; 0 counts nothing.
  return {
      .device = own.device, .blocks = own.blocks, .bytes_moved = own.bytes_moved, .operations = 0};
}

std::string ProgramBody::figures_json(const SymbolValues& symbols) const {
  return figures_line(figures_of(plan_, symbols));
}

std::string ProgramBody::text(const SymbolValues& symbols) const {
  return figures_text(plan_, figures_of(plan_, symbols));
}

operation::Explanation ProgramBody::explain(
    const SymbolValues& symbols, const std::optional<operation::Compiled>& compiled) const {
  return explanation_of(plan_, figures_of(plan_, symbols), compiled);
}

}  // namespace tilejit::program
