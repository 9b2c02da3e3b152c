#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "operation/launch_shape.hpp"
#include "spec/problems.hpp"
#include "tilejit/cuda_kernel.hpp"

namespace tilejit::cuda {

/// The shape that `launch` describes, with the integer constants replaced by their values. Faults
/// go to `problems`; numbers that need no symbol are checked too, the others at each launch.
[[nodiscard]] operation::LaunchShape read_shape(const CudaLaunch& launch,
                                                const std::map<std::string, std::int64_t>& integers,
                                                const std::map<std::string, std::int64_t>& symbols,
                                                spec::Problems& problems);

}  // namespace tilejit::cuda
