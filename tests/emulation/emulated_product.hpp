#pragma once

#include <vector>

#include "support/random_case.hpp"

namespace tilejit::test {

/// A product that a test gives by its tensors.
struct ProductCase {
  const char* what;
  std::vector<Tensor> tensors;
  const char* formula = "d = a @ b";
  SymbolValues symbols = {};
  Tuning tuning = {};

  [[nodiscard]] RandomCase random_case() const {
    return {.op = {.tensors = tensors, .formula = formula, .tuning = tuning},
            .symbols = symbols,
            .scalars = {}};
  }
};

}  // namespace tilejit::test
