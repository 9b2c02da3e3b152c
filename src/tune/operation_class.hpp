#pragma once

#include <string>

#include "plan/plan.hpp"

namespace tilejit::tune {

/// The class of the operation of which `plan` was made without pinned knobs.
[[nodiscard]] std::string class_of(const plan::Plan& plan);

}  // namespace tilejit::tune
