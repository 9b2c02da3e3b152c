#pragma once

#include <optional>

#include "tilejit/operation.hpp"

namespace tilejit::launch {

/// The values of symbols for which `general` computes what `wanted` computes; nothing if there are
/// none. There are such values if formula, functions, axis, scalars and tensors (name, dtype,
/// access) are equal, `general` requires no alignment that `wanted` does not promise, and the
/// values turn each extent and stride of `general` into that of `wanted`. Symbols that both have by
/// the same name remain symbols. Names of the operations and tuning do not matter.
[[nodiscard]] std::optional<SymbolValues> admits(const Operation& general, const Operation& wanted);

}  // namespace tilejit::launch
