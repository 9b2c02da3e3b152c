#pragma once

#include "plan/plan.hpp"

namespace tilejit::figures {

/// An estimate of the instructions per element of the space.
struct Work {
  double f32 = 0;      ///< on 32-bit units, integers included
  double f64 = 0;      ///< on 64-bit units
  double special = 0;  ///< on special function units
};

/// Values that follow only from reductions and scalars are computed once per row and not counted.
[[nodiscard]] Work work_of(const plan::Plan& plan);

}  // namespace tilejit::figures
