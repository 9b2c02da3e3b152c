#pragma once

#include "plan/plan.hpp"

namespace tilejit::figures {

/// Instructions of one element of the space, estimated.
struct Work {
  double f32 = 0;      ///< of 32-bit units, integers too
  double f64 = 0;      ///< of 64-bit units
  double special = 0;  ///< of special function units
};

/// What follows from reductions and scalars alone is computed once a row, and not counted.
[[nodiscard]] Work work_of(const plan::Plan& plan);

}  // namespace tilejit::figures
