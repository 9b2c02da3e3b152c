#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cuda/plan.hpp"
#include "operation/figures.hpp"
#include "tilejit/operation.hpp"

namespace tilejit::cuda {

/// What a plan says of its launches. Figures that need a symbol without a value are empty.
struct KernelFigures {
  const device::Device* device = nullptr;
  std::optional<std::int64_t> blocks, threads, shared_bytes, bytes_moved;
};
[[nodiscard]] KernelFigures figures_of(const KernelPlan& plan, const SymbolValues& symbols);
/// JSON on one line.
[[nodiscard]] std::string figures_line(const KernelFigures& figures);
/// For people, on several lines.
[[nodiscard]] std::string figures_text(const KernelPlan& plan, const KernelFigures& figures);
[[nodiscard]] operation::Explanation explanation_of(
    const KernelPlan& plan, const KernelFigures& figures,
    const std::optional<operation::Compiled>& compiled);
/// operation::Body::tuning_class.
[[nodiscard]] std::string class_of(const KernelPlan& plan);

}  // namespace tilejit::cuda
