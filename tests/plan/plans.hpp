#pragma once

#include <string>

#include "plan/plan.hpp"

namespace tilejit::plan {

inline constexpr Target kAmpere = {.major = 8, .minor = 0, .feature = '\0'};
inline constexpr Target kHopper = {.major = 9, .minor = 0, .feature = 'a'};

inline Plan plan_of(const Fused& op, const Target& target = kHopper) {
  return make_plan(op, formula::analyze(op), target);
}

/// The iteration space, innermost first: "128 64".
inline std::string extents_of(const Plan& plan) {
  std::string text;
  for (const Dim& extent : plan.extents) text += (text.empty() ? "" : " ") + to_string(extent);
  return text;
}

}  // namespace tilejit::plan
