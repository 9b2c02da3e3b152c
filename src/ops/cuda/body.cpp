#include "cuda/body.hpp"

#include "cuda/figures.hpp"
#include "cuda/source.hpp"

namespace tilejit::cuda {

std::string KernelBody::json() const {
  return to_json(plan_);
}

std::string_view KernelBody::generator() const {
  return generator_digest();
}

operation::Source KernelBody::source() const {
  return write_source(plan_);
}

std::vector<std::string> KernelBody::options() const {
  return compiler_options(plan_);
}

std::string KernelBody::header() const {
  return write_header(plan_);
}

operation::LaunchPlan KernelBody::launch() const {
  return launch_plan(plan_);
}

std::string KernelBody::tuning_class() const {
  return class_of(plan_);
}

operation::Figures KernelBody::figures(const SymbolValues& symbols) const {
  const KernelFigures own = figures_of(plan_, symbols);
  // What the kernel computes is its author's; 0 counts nothing.
  return {
      .device = own.device, .blocks = own.blocks, .bytes_moved = own.bytes_moved, .operations = 0};
}

std::string KernelBody::figures_json(const SymbolValues& symbols) const {
  return figures_line(figures_of(plan_, symbols));
}

std::string KernelBody::text(const SymbolValues& symbols) const {
  return figures_text(plan_, figures_of(plan_, symbols));
}

operation::Explanation KernelBody::explain(
    const SymbolValues& symbols, const std::optional<operation::Compiled>& compiled) const {
  return explanation_of(plan_, figures_of(plan_, symbols), compiled);
}

}  // namespace tilejit::cuda
