#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "expr/program.hpp"
#include "tilejit/reference.hpp"

namespace tilejit::reference {

/// `extent` coordinates, `stride` elements apart.
struct Leaf {
  std::int64_t extent = 1;
  std::int64_t stride = 0;
};
/// A tensor's share of one iteration mode: the leaves of its mode, colexicographic (first the
/// fastest). No leaves: the mode is broadcast.
using ModeLeaves = std::vector<Leaf>;

/// One tensor in host memory.
struct TensorView {
  std::string name;
  DType dtype = f32;
  void* data = nullptr;
  std::vector<ModeLeaves> modes;  ///< one an iteration mode
};

/// An operation with everything known: no symbols, no public types to look things up in.
struct Problem {
  expr::Program program;
  std::vector<std::int64_t>
      shape;  ///< the iteration space; at least one mode, the last runs fastest
  std::vector<TensorView> tensors;
  std::vector<double> scalars;
};

/// Elements of the iteration space.
[[nodiscard]] std::int64_t size(const Problem& problem) noexcept;

/// The element offsets of `view` at iteration indices first, first + 1, ...: one for each of `out`.
void fill_offsets(const TensorView& view, std::span<const std::int64_t> shape, std::int64_t first,
                  std::span<std::int64_t> out);

/// Row-major coordinate of iteration index `index`.
[[nodiscard]] std::vector<std::int64_t> coordinate(std::span<const std::int64_t> shape,
                                                   std::int64_t index);

/// Which tensors must have memory.
enum class Needs : std::uint8_t { all, inputs };

/// Fills in symbols and checks arguments. Throws what `validate` throws; Error{invalid_argument}
/// for a missing, negative or indivisible symbol, a wrong number of arguments, or a null tensor;
/// Error{unsupported} for more than 2^63-1 elements.
[[nodiscard]] Problem make_problem(const Fused& op, const HostArguments& args, Needs needs);

}  // namespace tilejit::reference
