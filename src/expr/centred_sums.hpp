#pragma once

#include <optional>

#include "expr/program.hpp"

namespace tilejit::expr {

/// `program` with its variances corrected. In a sum of squares of x - mean(x), over the axes of the
/// mean, the mean is rounded, by e say: the squares have n e^2 too much, which is all that they are
/// where x is constant. The sum of x - mean(x), taken in the same pass, is -n e instead of 0, so
/// that it tells e (the corrected two-pass algorithm: T. Chan, G. Golub, R. LeVeque, "Algorithms
/// for computing the sample variance", 1983). Everything else has the mean corrected by e, too,
/// unless e is below what rounding the distances makes of it. Throws Fault beyond kMaxNodes.
[[nodiscard]] Program correct_centred_sums(const Program& program);

/// A value that correct_centred_sums put in place of another.
struct Correction {
  enum class Of { squares, mean };
  Of of = Of::squares;
  NodeId value = kNoNode;    ///< x
  NodeId sum = kNoNode;      ///< of x - mean(x), as computed
  NodeId squares = kNoNode;  ///< the sum of their squares, as computed
  NodeId mean = kNoNode;     ///< as computed
  NodeId count = kNoNode;    ///< the extent of the axes
};
/// Whether node `id` is one.
[[nodiscard]] std::optional<Correction> find_correction(const Program& program, NodeId id);

}  // namespace tilejit::expr
