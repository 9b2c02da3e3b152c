#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "operation/launch_shape.hpp"
#include "spec/problems.hpp"
#include "tilejit/program.hpp"

namespace tilejit::program {

/// The shape that `launch` describes, with integer constants replaced by their values. A launch
/// without blocks launches nothing. Faults go to `problems`.
[[nodiscard]] operation::LaunchShape read_launch(const TileLaunch& launch,
                                                 const std::vector<TileConstant>& constants,
                                                 const std::map<std::string, std::int64_t>& symbols,
                                                 spec::Problems& problems);

}  // namespace tilejit::program
