#pragma once

#include <vector>

#include "formula/analysis.hpp"
#include "plan/plan.hpp"

namespace tilejit::plan {

/// Steps, and what is in memory between them beside the results of the analysis.
struct StepList {
  std::vector<formula::Step> steps;
  std::vector<Temporary> temporaries;
};

}  // namespace tilejit::plan
