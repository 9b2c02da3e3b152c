#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tilejit/tensor.hpp"

namespace tilejit::operation {

/// The arguments of a launch. Code that binds, lists or exports arguments needs nothing else of the
/// operation. A value.
struct Signature {
  std::vector<Tensor> tensors = {};  ///< the first arguments; access is never automatic
  std::vector<Scalar> scalars = {};  ///< the arguments after the tensors
  /// Every symbol of a layout with the divisor promised for it (1: nothing).
  std::map<std::string, std::int64_t> symbols = {};
  bool operator==(const Signature&) const = default;
};

}  // namespace tilejit::operation
