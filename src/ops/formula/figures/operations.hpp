#pragma once

#include <cstdint>
#include <optional>

#include "formula/analysis.hpp"

namespace tilejit::figures {

/// What DeclaredWork::operations says, of the operation over `tensors` that `analysis` was made of;
/// nothing where a symbol has no value, and beyond 2^63-1.
[[nodiscard]] std::optional<std::int64_t> count_operations(const std::vector<Tensor>& tensors,
                                                           const formula::Analysis& analysis,
                                                           const SymbolValues& symbols);

}  // namespace tilejit::figures
