#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formula/attention.hpp"
#include "plan/plan.hpp"

namespace tilejit::plan {

/// Three steps as one kernel, or why they are not.
struct AttentionPlan {
  std::optional<Plan> plan = {};
  formula::Analysis analysis = {};  ///< of the kernel: the last step's, with all tensors
  std::vector<int> tensors = {};    ///< as formula::Step::tensors
  std::string why_not = {};         ///< "an output replaces an input"
};
/// `search` has found one. `tuning` may pin threads and tile, which choose among the families.
/// Throws Error{invalid_spec} if there is none with both.
[[nodiscard]] AttentionPlan plan_attention(const formula::Analysis& analysis,
                                           const formula::AttentionSearch& search,
                                           const Target& target, const Tuning& tuning);

/// Why a step that looks like attention is not one kernel; empty if it is, or does not.
[[nodiscard]] std::string why_no_attention(const formula::Analysis& analysis, std::size_t step,
                                           const Target& target);

}  // namespace tilejit::plan
