#pragma once

#include <optional>
#include <span>

#include "figures/figures.hpp"
#include "operation/figures.hpp"

namespace tilejit::figures {

using operation::Compiled;
using operation::Explanation;
using operation::Topic;

/// What a plan is of.
struct Origin {
  const formula::Analysis& analysis;
  std::span<const formula::Analysis> of_stages;  ///< where there are several kernels
  const Tuning& pinned;                          ///< the knobs that it was made with
};

/// Of several kernels the numbers are the first one's, and `compiled` is left out.
[[nodiscard]] Explanation explain(const plan::Plan& plan, const Origin& origin,
                                  const SymbolValues& symbols,
                                  const std::optional<Compiled>& compiled);

}  // namespace tilejit::figures
