#pragma once

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "atoms/mma_atom.hpp"
#include "formula/product.hpp"
#include "matmul/operand_source.hpp"
#include "matmul/tile_shape.hpp"
#include "plan/family.hpp"

namespace tilejit::plan {

/// The other product of a pair, which has `a` or `b` in common with the first one.
struct SecondSource {
  OperandSource source;  ///< instead of `b`, or of `a` if `left`
  int tensor = 0;
  bool left = false;
  expr::NodeId node = expr::kNoNode;
  bool operator==(const SecondSource&) const = default;
};

/// One product of matrices, or a pair of them, and the formula around it. A block computes a tile
/// of the product's last two axes, or a part of its sum. The plan's mode 0 is the axis along which
/// vectors of the result lie, N or M; mode 1 is the other one, and then come batch axes, the last
/// one first.
struct Matmul {
  static constexpr bool kCountsUnits = false;
  OperandSource a, b;
  Dim k = 1;
  DType accumulator = f32;  ///< f32, f64 or i32
  expr::NodeId node = expr::kNoNode;
  TileShape tile = {};
  int splits = 1;  ///< blocks that share a tile, each with a part of K
  int passes = 1;  ///< in which the sums of a tile go through shared memory
  bool along_m = false;
  std::optional<SecondSource> second = {};
  expr::NodeId statistic = expr::kNoNode;              ///< formula::Product::statistic
  std::vector<formula::RowReduction> reductions = {};  ///< formula::Product::reductions
  bool operator==(const Matmul&) const = default;

  // What plan::IsFamily says, but for the template.
  void choose_launch(Plan& plan, const Tuning& tuning);
  [[nodiscard]] std::int64_t unit_extent(const Plan& plan, std::size_t m) const noexcept;
  [[nodiscard]] std::int64_t units_per_block(const Plan&) const noexcept { return 1; }
  [[nodiscard]] std::vector<Dim> compared_extents(const Plan& plan) const;
  [[nodiscard]] bool has_light(const Plan&) const { return false; }
  void write_json(core::JsonLine& line) const;

  [[nodiscard]] int products() const noexcept { return second ? 2 : 1; }
  /// Whether partial results of a reduction go to the tensor.
  [[nodiscard]] bool reduces_to(int tensor) const noexcept {
    return std::ranges::count(reductions, tensor, &formula::RowReduction::tensor) != 0;
  }
  /// Whether the tensor is an operand of a product, not of the formula.
  [[nodiscard]] bool multiplies(int tensor) const noexcept {
    return tensor < 2 || (second && second->tensor == tensor);
  }
};

/// By the tensor cores of warps.
struct MatmulMma : Matmul {
  static constexpr std::string_view kTemplate = "matmul_mma";
  atoms::MmaAtom atom;
  bool operator==(const MatmulMma&) const = default;
  void write_json(core::JsonLine& line) const;
};

/// Without them, for all types.
struct MatmulSimt : Matmul {
  static constexpr std::string_view kTemplate = "matmul_simt";
  bool operator==(const MatmulSimt&) const = default;
};

/// The product of the plan; null if its kernel multiplies no matrices.
[[nodiscard]] const Matmul* matmul_of(const Plan& plan) noexcept;
/// Whether blocks that share a tile leave sums in memory for each other.
[[nodiscard]] bool leaves_partials(const Plan& plan) noexcept;
/// Shared memory of a block, all of it dynamic, in bytes.
[[nodiscard]] int shared_bytes(const Matmul& product, bool by_tensor_cores) noexcept;
/// The bytes of counters, and of counters and partial sums, that blocks leave for each other; the
/// plan's extents are known. 0 if blocks share no tiles.
[[nodiscard]] std::int64_t counter_bytes(const Plan& plan, const Matmul& product);
[[nodiscard]] std::int64_t partials_bytes(const Plan& plan, const Matmul& product);

}  // namespace tilejit::plan
