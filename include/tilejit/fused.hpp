#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tilejit/tensor.hpp"
#include "tilejit/tuning.hpp"

namespace tilejit {

/// A function of the formula language, inlined where it is called.
struct Function {
  std::string name;
  std::vector<std::string> args = {};
  std::string expr = {};
  bool operator==(const Function&) const = default;
};

/// A fused operation: formulas over tensors of any layouts. Shapes broadcast by NumPy's rules on
/// top-level modes to the iteration space. An output has the shape of that, with extents of 1 along
/// the axes over which its value was reduced, or these axes left out. A formula with products of
/// matrices (`a @ b`) has several iteration spaces. See docs/formulas.md.
struct Fused {
  std::string name = "fused";            ///< an identifier; part of the kernel's name in a profiler
  std::vector<Symbol> symbols = {};      ///< facts about symbols; a symbol needs no entry here
  std::vector<Tensor> tensors = {};      ///< launch arguments, first the tensors
  std::vector<Scalar> scalars = {};      ///< launch arguments, after the tensors
  std::vector<Function> functions = {};  ///< callable in the formula and in later functions
  std::string formula = {};    ///< "y = gelu(x + bias)"; statements end with a newline or ';'
  std::vector<int> axis = {};  ///< of reductions and scans that name none; from the last if
                               ///< negative. Empty: the last
  Tuning tuning = {};
  bool operator==(const Fused&) const = default;
};

/// Reads one descriptor from JSON text (schema: docs/spec.schema.json). Throws as `validate` does,
/// and Error{invalid_spec} for another operation.
[[nodiscard]] Fused parse_fused(std::string_view json);

}  // namespace tilejit
