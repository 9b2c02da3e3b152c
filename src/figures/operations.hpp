#pragma once

#include <cstdint>
#include <optional>

#include "spec/analysis.hpp"

namespace tilejit::figures {

/// What DeclaredWork::operations says, of the operation that `analysis` was made of; nothing where
/// a symbol has no value, and beyond 2^63-1.
[[nodiscard]] std::optional<std::int64_t> count_operations(const Fused& op,
                                                           const spec::Analysis& analysis,
                                                           const SymbolValues& symbols);

}  // namespace tilejit::figures
