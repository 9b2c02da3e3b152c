#pragma once

#include "support/random_case.hpp"

namespace tilejit::test {

/// A random product of 16-bit matrices whose results are reduced along N, with none to two outputs
/// of all elements, sides of half of `most` and more, a multiple of 16, and sometimes batches. Of
/// most of them, a kernel of sm_90a multiplies and reduces, and another one ends the reductions.
[[nodiscard]] RandomCase random_reduction(Random& random, int most);

}  // namespace tilejit::test
