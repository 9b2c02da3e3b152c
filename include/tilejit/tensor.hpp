#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tilejit/dtype.hpp"
#include "tilejit/layout.hpp"
#include "tilejit/number.hpp"

namespace tilejit {

/// How a kernel uses a tensor. `automatic`: written by the formula means out, else in.
/// A tensor that is read before it is written must say `inout` (in-place operations).
enum class Access : std::uint8_t { automatic, in, out, inout };

/// One tensor of a descriptor. Launch arguments come in the order of declaration.
struct Tensor {
  std::string name;                   ///< an identifier
  DType dtype = f32;                  ///< element type
  Layout layout = {};                 ///< extents and strides in elements; symbols allowed
  Access access = Access::automatic;  ///< derived from the formula unless given
  int align = 16;  ///< bytes the base address is a multiple of: 1, 2, 4, 8 or 16,
                   ///< at least the element size; checked at launch
  bool operator==(const Tensor&) const = default;
};

/// A value passed at launch, the same for all elements.
struct Scalar {
  std::string name;
  DType dtype = f32;
  std::optional<Number> example = {};  ///< what `tilejit run` passes; no effect on the kernel
  bool operator==(const Scalar&) const = default;
};

/// What is promised about a symbol, checked at launch.
struct Symbol {
  std::string name;
  std::int64_t divisible_by = 1;  ///< the value is a multiple of this
  std::optional<std::int64_t> example =
      {};  ///< what `tilejit run` uses without --dims; no effect on the kernel
  bool operator==(const Symbol&) const = default;
};

}  // namespace tilejit
