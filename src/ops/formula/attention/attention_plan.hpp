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
  std::string why_not = {};         ///< "the target has no wgmma"
};
/// `search` has found one.
[[nodiscard]] AttentionPlan plan_attention(const formula::Analysis& analysis,
                                           const formula::AttentionSearch& search,
                                           const Target& target);

/// Why a step that looks like attention is not one kernel; empty if it is, or does not.
[[nodiscard]] std::string why_no_attention(const formula::Analysis& analysis, std::size_t step,
                                           const Target& target);

}  // namespace tilejit::plan
