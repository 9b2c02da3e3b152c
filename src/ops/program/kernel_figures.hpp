#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "operation/figures.hpp"
#include "program/kernel_plan.hpp"

namespace tilejit::program {

/// What a plan says of its launches. Figures that need a symbol without a value are empty.
struct KernelFigures {
  const device::Device* device = nullptr;
  std::optional<std::int64_t> blocks = {};
  std::optional<std::int64_t> bytes_moved = {};  ///< each element of a tensor once
  int threads = 0;
  std::int64_t shared_bytes = 0;
};
[[nodiscard]] KernelFigures figures_of(const KernelPlan& plan, const SymbolValues& symbols);
/// JSON on one line.
[[nodiscard]] std::string figures_line(const KernelFigures& figures);
/// For people, on several lines: launch, tiles and how they are spread, warnings.
[[nodiscard]] std::string figures_text(const KernelPlan& plan, const KernelFigures& figures);
[[nodiscard]] operation::Explanation explanation_of(
    const KernelPlan& plan, const KernelFigures& figures,
    const std::optional<operation::Compiled>& compiled);

}  // namespace tilejit::program
