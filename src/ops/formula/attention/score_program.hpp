#pragma once

#include "attention/family.hpp"

namespace tilejit::plan {

/// Makes the program of scores cheaper, without a change of its values beyond a rounding:
/// - division by a constant becomes multiplication;
/// - integers of 64 bits become those of 32 where all their values fit: coordinates are below 2^31.
void simplify(Scores& scores);

}  // namespace tilejit::plan
