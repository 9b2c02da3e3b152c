#pragma once

#include <optional>

#include "plan/plan.hpp"

namespace tilejit::plan {

/// Plans a product step (formula/product.hpp) for `target`. Throws Error{invalid_spec} for tuning
/// that cannot be honoured.
[[nodiscard]] Plan plan_product(const Fused& op, const formula::Analysis& analysis,
                                const Target& target);
/// The clocks that such a plan's launch is expected to take; the extents are known.
[[nodiscard]] double product_clocks(const Fused& op, const formula::Analysis& analysis,
                                    const Target& target);
/// Whether one kernel for a pair (formula/product.hpp) is there, and takes less time than one for
/// each of its products.
[[nodiscard]] bool pays_as_pair(const Fused& op, const formula::Analysis& analysis,
                                const Target& target);
/// Whether one kernel for a product step and its statistic (formula/product.hpp) is there, and
/// takes less time than one for each.
[[nodiscard]] bool pays_with_statistic(const Fused& op, const formula::Analysis& analysis,
                                       const Target& target);
/// The kernel of a product step that reduces along N (formula/product.hpp): the columns of a tile,
/// for which it leaves a partial result in each row, and the clocks of a launch. Nothing if there
/// is none.
struct ReducedProduct {
  int columns = 0;
  double clocks = 0;
};
[[nodiscard]] std::optional<ReducedProduct> reduced_product(const Fused& op,
                                                            const formula::Analysis& analysis,
                                                            const Target& target);
/// The plan of the same step that compiles fastest: without tensor cores, by small tiles. It
/// ignores tuning. Nothing if a launch would take longer than the compiler does.
[[nodiscard]] std::optional<Plan> plan_light_product(const Fused& op,
                                                     const formula::Analysis& analysis,
                                                     const Target& target);

}  // namespace tilejit::plan
