#pragma once

#include <cstdint>
#include <optional>

#include "device/device.hpp"
#include "figures/figures.hpp"
#include "matmul/family.hpp"
#include "plan/plan.hpp"
#include "tilejit/matrix_types.hpp"

namespace tilejit::figures {

/// How the plan's product reads an operand; null for what is no operand of a product.
[[nodiscard]] const plan::OperandSource* source_of(const plan::Plan& plan,
                                                   const plan::Operand& operand) noexcept;
/// The figures of such an operand: each element is moved once.
[[nodiscard]] OperandFigures figures_of_source(const plan::Plan& plan, const plan::Operand& operand,
                                               const plan::OperandSource& source,
                                               const SymbolValues& symbols);
/// Milliseconds for the product's multiply-adds at the published peak of what computes them; 0
/// without a product, nothing if a size is unknown.
[[nodiscard]] std::optional<double> product_ms(const plan::Plan& plan, const device::Device& device,
                                               const SymbolValues& symbols);

/// The types of the first product's operands; empty if nothing is multiplied.
[[nodiscard]] std::optional<MatrixTypes> matrices_of(const plan::Plan& plan) noexcept;

}  // namespace tilejit::figures
