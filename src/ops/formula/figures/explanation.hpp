#pragma once

#include <optional>

#include "figures/figures.hpp"
#include "operation/figures.hpp"

namespace tilejit::figures {

using operation::Compiled;
using operation::Explanation;
using operation::Topic;

/// `figures` are those of `plan`, `pinned` the knobs that it was made with. Of several kernels the
/// numbers are the first one's, and `compiled` is left out. Operations are not counted.
[[nodiscard]] Explanation explain(const plan::Plan& plan, const Tuning& pinned,
                                  const Figures& figures, const std::optional<Compiled>& compiled);

}  // namespace tilejit::figures
