#pragma once

#include <optional>

#include "tilejit/operation.hpp"

namespace tilejit::launch {

/// The values of symbols for which `general` computes what `wanted` does; nothing if there are
/// none. It does if formula, functions, axis, scalars and tensors (name, dtype, access) are equal,
/// no alignment is promised that `wanted` does not, and each extent and stride of `general` becomes
/// that of `wanted` when its symbols have these values; symbols that `wanted` has too, by the same
/// name, keep being symbols. Names of the operations and tuning do not matter.
[[nodiscard]] std::optional<SymbolValues> admits(const Operation& general, const Operation& wanted);

}  // namespace tilejit::launch
