#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "expr/program.hpp"
#include "formula/analysis.hpp"
#include "reference/bounds.hpp"
#include "tilejit/reference.hpp"

namespace tilejit::reference {

/// `extent` coordinates, `stride` elements apart.
struct Leaf {
  std::int64_t extent = 1;
  std::int64_t stride = 0;
};
/// The leaves of a tensor's mode that belong to one iteration mode, colexicographic (the first is
/// fastest). No leaves: the mode is broadcast.
using ModeLeaves = std::vector<Leaf>;

/// Values that the reference leaves for a later step of the same formula, by element offset.
struct KeptValues {
  std::vector<double> reals = {};           ///< if the tensor's dtype is floating
  std::vector<std::int64_t> integers = {};  ///< otherwise
  std::vector<double> bounds = {};          ///< empty without bounds
};

/// One tensor in host memory.
struct TensorView {
  std::string name;
  DType dtype = f32;
  void* data = nullptr;
  std::vector<ModeLeaves> modes;  ///< one per iteration mode
  std::vector<int> axes = {};  ///< the iteration mode of each of the tensor's modes; for messages
  const KeptValues* kept = nullptr;  ///< read instead of `data`; null: nothing is
  KeptValues* keeps = nullptr;       ///< gets what is stored, besides `data` or instead of it
  OwnError error = {};               ///< of what is kept
};

/// One operand of a product: the leaves of its modes, as in TensorView::modes.
struct Factor {
  int tensor = 0;
  std::vector<ModeLeaves> batch;  ///< one per batch axis of the space
  ModeLeaves outer, inner;        ///< along M or N, and along K
};
/// The product of a product step; M and N are the last two extents of the space.
struct ProductProblem {
  expr::NodeId node = expr::kNoNode;
  Factor a, b;
  std::int64_t m = 0, n = 0, k = 0;
  bool sampled = false;  ///< only a part of its elements is computed (multiply.hpp)
  const MultiplyReals* multiply = nullptr;  ///< computes its sums, if not null
  /// An element of the left operand that is surely 0 contributes nothing, whatever it is multiplied
  /// by: the weight of a key that attention excludes.
  bool skips_zeros = false;
};

/// An operation in which everything is known: no symbols, and no public types to look things up in.
struct Problem {
  expr::Program program;
  std::vector<std::int64_t>
      shape;  ///< the iteration space; at least one mode, the last runs fastest
  std::vector<TensorView> tensors;
  std::vector<Number> scalars;  ///< each fits the dtype of its nodes
  std::optional<ProductProblem> product = {};
  std::vector<OwnError> errors = {};  ///< by node of the program; empty: none
};

/// The product of extents.
[[nodiscard]] std::int64_t count_elements(std::span<const std::int64_t> shape) noexcept;
/// True if a mode of the tensor is empty.
[[nodiscard]] bool has_no_elements(const TensorView& view) noexcept;

/// The offset of a coordinate of one mode.
[[nodiscard]] std::int64_t offset_in_mode(const ModeLeaves& leaves, std::int64_t coord) noexcept;
/// Fills `out` with the element offsets of a tensor of `modes` at indices first, first + 1, ... of
/// a space of `shape`, whose last mode is fastest.
void fill_offsets(std::span<const ModeLeaves> modes, std::span<const std::int64_t> shape,
                  std::int64_t first, std::span<std::int64_t> out);

/// Row-major coordinate of index `index` in `shape`.
[[nodiscard]] std::vector<std::int64_t> coordinate(std::span<const std::int64_t> shape,
                                                   std::int64_t index);

/// Which tensors must have memory.
enum class Needs : std::uint8_t { all, inputs, none };

/// Checks the arguments of an operation that has steps. Throws as make_problem.
void check_arguments(const Fused& op, const formula::Analysis& analysis, const HostArguments& args,
                     Needs needs);

/// Fills in symbols and checks arguments. Throws Error{invalid_argument} for a missing, negative or
/// indivisible symbol, a wrong number of arguments, a scalar that its dtype cannot hold, or a null
/// tensor; Error{unsupported} for more than 2^63-1 elements. `analysis` is that of `op`.
[[nodiscard]] Problem make_problem(const Fused& op, const formula::Analysis& analysis,
                                   const HostArguments& args, Needs needs);

}  // namespace tilejit::reference
