#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "operation/launch_shape.hpp"
#include "spec/problems.hpp"

namespace tilejit::spec {

/// The numbers of a launch as their author writes them.
struct LaunchTexts {
  std::vector<std::string> grid = {};   ///< blocks along x, y, z: one to three
  std::vector<std::string> block = {};  ///< threads along x, y, z: one to three
  std::string shared = "0";             ///< bytes per block, beyond what the kernel declares
  std::string cluster = "1";            ///< blocks along x
};

/// The names in these texts and what they stand for.
struct LaunchNames {
  std::map<std::string, std::int64_t> constants = {};  ///< integers, with their values
  std::map<std::string, std::int64_t> symbols = {};    ///< with the divisors promised of them
};

/// The shape that `texts` describe, with constants replaced by their values. Faults go to
/// `problems`; numbers that need no symbol are checked too, the others at each launch. The result
/// is of use only if there were no faults.
[[nodiscard]] operation::LaunchShape read_launch_shape(const LaunchTexts& texts,
                                                       const LaunchNames& names,
                                                       Problems& problems);

}  // namespace tilejit::spec
