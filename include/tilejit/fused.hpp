#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tilejit/dtype.hpp"
#include "tilejit/layout.hpp"
#include "tilejit/tensor.hpp"

namespace tilejit {

/// A function of the formula language, inlined where it is called.
struct Function {
  std::string name;
  std::vector<std::string> args = {};
  std::string expr = {};
  bool operator==(const Function&) const = default;
};

/// How the elements of a block's tile are divided among its threads: what make_layout_tv takes
/// (tilejit/tv.hpp). The tile's modes are the last axes of the iteration space, in their order.
struct ThreadValueLayouts {
  Layout thr = {};  ///< coordinates of the tile to threads: compact, 32 to 1024 of them
  Layout val = {};  ///< coordinates to the values of a thread: compact, at most 1024
  bool operator==(const ThreadValueLayouts&) const = default;
};

/// What a caller may pin; the planner chooses whatever is left empty.
struct Tuning {
  std::optional<int> threads = {};  ///< threads per block: a multiple of 32, 32..1024
  std::optional<int> vector =
      {};  ///< elements a thread takes at once along the innermost mode: 1,2,4,8,16
  std::optional<int> unroll = {};  ///< vectors a thread has in flight: 1..16
  /// If operands are contiguous along two modes: elements of a block's tile along the outputs'
  /// contiguous mode, then along the other; powers of two, 1..4096.
  std::optional<std::array<int, 2>> tile = {};
  /// Instead of a plan of the library's own, for formulas without reductions: `threads` and `tile`
  /// follow from it.
  std::optional<ThreadValueLayouts> tv = {};
  // If the formula reduces (docs/planning.md, "Rows"):
  std::optional<int> lanes = {};    ///< threads of a block that share a row: a power of two
  std::optional<int> cluster = {};  ///< blocks of a cluster that share a row: 1, 2, 4 or 8
  std::optional<int> shares = {};   ///< blocks that share a row through memory: 1..8192
  std::optional<int> held = {};     ///< vectors of a row that a lane keeps in registers; 0: none
  /// Blocks that share a row through memory count themselves there, by an atomic addition, and the
  /// last one combines what they have left: one kernel instead of two, with the same results.
  /// Without effect if no blocks do.
  std::optional<bool> atomics = {};
  bool operator==(const Tuning&) const = default;
};

/// A fused operation: formulas over tensors of any layouts. Shapes broadcast by NumPy's rules on
/// top-level modes to the iteration space. An output has the shape of that, with extents of 1 along
/// the axes over which its value was reduced, or these axes left out. See docs/formulas.md.
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

/// Checks everything that can be checked without values: names, dtypes, shapes, broadcasting, types
/// of the formula. Throws Error (invalid_spec, invalid_layout, invalid_formula or unsupported) that
/// lists every fault found, with a JSON pointer for the first.
void validate(const Fused& op);

/// How `op` uses each tensor, in the order of declaration: in, out or inout, never automatic.
/// Throws as `validate` does.
[[nodiscard]] std::vector<Access> resolve_access(const Fused& op);

/// Reads one descriptor from JSON text (schema: docs/spec.schema.json). Throws as `validate` does.
[[nodiscard]] Fused parse_fused(std::string_view json);
/// Reads a spec file's text: one descriptor, or {"kernels": [...]}, sweeps expanded (docs/spec.md).
/// At least one, names distinct.
[[nodiscard]] std::vector<Fused> parse_specs(std::string_view json);
/// Checks only the structure: for callers who plan what they read, which checks the rest.
[[nodiscard]] std::vector<Fused> parse_specs_unvalidated(std::string_view json);
/// JSON that `parse_fused` reads back to an equal value; two spaces of indent. Throws
/// Error{invalid_spec} if a text of `op` is not UTF-8.
[[nodiscard]] std::string to_json(const Fused& op);
/// The JSON Schema of spec files, as checked in at docs/spec.schema.json.
[[nodiscard]] std::string_view spec_schema() noexcept;

}  // namespace tilejit
