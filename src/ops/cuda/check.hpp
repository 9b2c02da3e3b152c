#pragma once

#include <map>
#include <string>
#include <vector>

#include "cuda/resolve.hpp"
#include "operation/launch_shape.hpp"

namespace tilejit::cuda {

/// What follows from a kernel's descriptor alone.
struct Checked {
  std::vector<Access> access;                   ///< of each tensor, never automatic
  std::map<std::string, std::int64_t> symbols;  ///< of layouts, with their divisors
  std::vector<CudaConstant> constants;          ///< with the values that `tuning` chooses
  operation::LaunchShape shape;                 ///< with constants replaced by their values
};

/// Throws what `validate` throws. `tuning` is that of the kernel, or another one for it.
[[nodiscard]] Checked check(const Resolved& kernel, const Tuning& tuning);

}  // namespace tilejit::cuda
