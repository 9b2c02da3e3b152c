#pragma once

#include <optional>
#include <vector>

#include "formula/analysis.hpp"
#include "tilejit/fused.hpp"
#include "tilejit/layout.hpp"

namespace tilejit::formula {

/// One operand of a product as its kernel reads it. Leaves are in the order of the coordinate,
/// fastest first, without those of extent 1; no leaves: one element, which repeats.
struct ProductOperand {
  int tensor = 0;      ///< index into Fused::tensors: 0 is the left operand, 1 the right one
  DType dtype = f32;   ///< in which it is multiplied
  DType stored = f32;  ///< of the tensor's elements
  /// What the operand's elements are computed by, each from the tensor's element at its place;
  /// kNoNode: they are the tensor's.
  expr::NodeId value = expr::kNoNode;
  std::vector<std::vector<Mode>> batch;  ///< one per batch axis of the product's space
  std::vector<Mode> outer;               ///< along M (the left operand) or N (the right one)
  std::vector<Mode> inner;               ///< along K
  bool operator==(const ProductOperand&) const = default;
};

/// The other product of a pair: its node, and the operand that it does not share.
struct SecondProduct {
  expr::NodeId node = expr::kNoNode;
  bool left = false;  ///< the operand is the left one, and the pair shares the right one
  ProductOperand operand;
};

/// A reduction along N of a value of the epilogue, and the tensor that its partial results go to.
struct RowReduction {
  expr::NodeId node = expr::kNoNode;
  int tensor = 0;
  bool operator==(const RowReduction&) const = default;
};

/// The product of a product step: D(batch..., m, n) = sum over k of a(batch..., m, k) * b(batch...,
/// k, n). With K = 0 the sums are 0.
struct Product {
  expr::NodeId node = expr::kNoNode;  ///< the Op::matmul
  ProductOperand a, b;
  std::vector<Dim> batch = {};  ///< extents of the batch axes of the space
  Dim m = 1, n = 1, k = 1;
  /// The type in which products are added up: f32 (also for f16, bf16, tf32 and f8), f64, or i32.
  DType accumulator = f32;
  std::optional<SecondProduct> second = {};
  /// A reduction of an elementwise function of tensor 0 along K, which the epilogue reads for each
  /// row (plan/statistics.hpp).
  expr::NodeId statistic = expr::kNoNode;
  std::vector<RowReduction> reductions = {};
};

/// True if the program has a product of matrices.
[[nodiscard]] bool has_product(const expr::Program& program) noexcept;

/// A *product step* is what one kernel of a family for products computes: an operation whose
/// program has exactly one Op::matmul. Its operands are loads of tensors 0 and 1, in this order, or
/// elementwise functions of one such load (plan/prologues.hpp), which nothing else reads: a tensor
/// that the epilogue reads too is listed again, and so is one that is both operands. No output has
/// memory in common with them. Their layouts have the modes (batch..., M, K) and (batch..., K, N),
/// aligned at the last one, with fewer batch modes or some of extent 1 if they repeat;
/// transpositions are in the layouts. Analysis::axes of both is empty.
///
/// Everything else is elementwise in the product's space, Analysis::shape, which is (batch..., M,
/// N): the epilogue has loads that broadcast, scalars, Op::index, Op::extent, casts, functions and
/// one or more stores, but no scans, and no reductions but Product::statistic and
/// Product::reductions. Every store spans the whole space, except that those of
/// Product::reductions go to tensors without axes, of the shape (batch..., M, tiles), that have a
/// partial result for each tile along N (plan/row_reductions.hpp). A tensor may be read and
/// written, element by element. Any extent may have symbols.
///
/// A *pair* is a product step with two Op::matmul, equal in all but one operand's elements
/// (plan/pairs.hpp): they share tensor 0 or tensor 1, and the other operand of the second one, a
/// load as well, is any later tensor, with the extents that tensor 1 or 0 has.
///
/// Operands of type tf32 are f32 in memory with any bits: the product rounds them (to nearest, ties
/// away from zero). The value of Op::matmul is the unrounded sum in the compute type of its
/// dtype: for f16 and bf16 a float.
[[nodiscard]] Product product_of(const Fused& op, const Analysis& analysis);

}  // namespace tilejit::formula
