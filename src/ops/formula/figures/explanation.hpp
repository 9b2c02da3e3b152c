#pragma once

#include <optional>
#include <span>

#include "figures/figures.hpp"
#include "operation/figures.hpp"

namespace tilejit::figures {

using operation::Compiled;
using operation::Explanation;
using operation::Topic;

/// What a plan was made of.
struct Origin {
  const formula::Analysis& analysis;
  std::span<const formula::Analysis> of_parts;  ///< if there are several kernels
  const Tuning& pinned;                         ///< the knobs with which it was made
};

/// Explains a plan. If there are several kernels, the numbers are those of the first kernel, and
/// `compiled` is ignored.
[[nodiscard]] Explanation explain(const plan::Plan& plan, const Origin& origin,
                                  const SymbolValues& symbols,
                                  const std::optional<Compiled>& compiled);

}  // namespace tilejit::figures
