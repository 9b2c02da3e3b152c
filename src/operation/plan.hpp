#pragma once

#include "operation/launch_plan.hpp"
#include "operation/signature.hpp"

namespace tilejit::operation {

/// A planned operation as everything after planning sees it. A value.
struct Plan {
  Signature signature = {};
  LaunchPlan launch = {};
  bool light = false;  ///< planned for the least code, to be replaced (CompileEffort::tiered)
  bool operator==(const Plan&) const = default;
};

}  // namespace tilejit::operation
