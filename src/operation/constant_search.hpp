#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tilejit/tuning.hpp"

namespace tilejit::operation {

/// A constant that tuning may choose, with its values as text.
struct TunedConstant {
  std::string name = {};
  std::string usual = {};  ///< its value if nothing is chosen
  std::vector<std::string> values = {};
};

/// `usual`, and at most `budget` others that differ from it in constants: first in one, then in
/// two, and so on. Constants that `usual` pins stay. Only those that `fits` does not refuse by an
/// Error.
[[nodiscard]] std::vector<Tuning> search_constants(const Tuning& usual,
                                                   std::span<const TunedConstant> constants,
                                                   std::size_t budget,
                                                   const std::function<void(const Tuning&)>& fits);

}  // namespace tilejit::operation
