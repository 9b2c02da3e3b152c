#pragma once

#include <optional>

#include "formula/analysis.hpp"

namespace tilejit::formula {

/// Two steps without products in one space, as one: `first`, then what `second` stores besides,
/// with nodes in common where both compute the same. Nodes and tensors of `first` keep their
/// numbers. Nothing if the spaces differ, or if one reads what the other writes.
[[nodiscard]] std::optional<Step> joined(const Step& first, const Step& second);

}  // namespace tilejit::formula
