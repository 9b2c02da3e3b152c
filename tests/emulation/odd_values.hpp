#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>

#include "emulation/emulated.hpp"

namespace tilejit::test {

/// Verifies three attentions of 64 columns and 150 keys with nan and infinities among the values of
/// keys: a causal one of 150 queries, where some rows see them; and two of 70 queries where none
/// does, one that leaves out keys from 100 on, one with a bias of -inf for these as its first
/// tensor.
inline void verify_with_odd_values(EmulatedKernels& kernels) {
  const auto infinity = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < 3; ++i) {
    for (const double odd : {std::nan(""), infinity, -infinity}) {
      Random random(7);
      std::uniform_real_distribution<double> real(-2.0, 2.0);
      const std::int64_t of_bias = i == 2 ? 150 : 0, queries = i == 0 ? 150 : 70;
      const std::int64_t before = of_bias + (queries + 150) * 64;
      std::int64_t drawn = 0;
      (void)kernels.verify(i, [&]() -> double {
        const std::int64_t at = drawn++, key = (at - before) / 64;
        const double x = real(random);
        if (at < of_bias) return at >= 100 ? -infinity : x;
        if (at < before) return x;
        if (i == 0) return at - before == 70 * 64 + 3 || at - before == 149 * 64 + 40 ? odd : x;
        return key >= 100 ? odd : x;
      });
    }
  }
}

}  // namespace tilejit::test
