#pragma once

#include <optional>
#include <string>

#include "tilejit/tensor.hpp"

namespace tilejit::formula {

/// Why two coordinates of an output share an element, or may do so; nothing if they do not. Only
/// modes of known extent and stride are looked at, since values of symbols are unknown.
[[nodiscard]] std::optional<std::string> shared_elements(const Tensor& output);

}  // namespace tilejit::formula
