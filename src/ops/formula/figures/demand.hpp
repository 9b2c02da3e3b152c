#pragma once

#include <cstdint>
#include <optional>

#include "figures/figures.hpp"

namespace tilejit::figures {

/// What a kernel without products asks of a device. `figures` are the plan's, up to its blocks.
/// Nothing if a size is unknown, or if there is nothing to do.
[[nodiscard]] std::optional<Demand> demand_of(const plan::Plan& plan, const Figures& figures,
                                              const SymbolValues& symbols);

}  // namespace tilejit::figures
