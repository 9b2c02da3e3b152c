#pragma once

#include <cstdint>
#include <optional>

#include "formula/analysis.hpp"

namespace tilejit::figures {

/// DeclaredWork::operations for the operation over `tensors` of which `analysis` was made; nothing
/// if a symbol has no value, or beyond 2^63-1.
[[nodiscard]] std::optional<std::int64_t> count_operations(const std::vector<Tensor>& tensors,
                                                           const formula::Analysis& analysis,
                                                           const SymbolValues& symbols);

}  // namespace tilejit::figures
