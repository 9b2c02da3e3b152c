#pragma once

#include <optional>

#include "expr/program.hpp"

namespace tilejit::expr {

/// `program` with its variances corrected. Take a sum of squares of x - mean(x), over the axes of
/// the mean. The mean has a rounding error e, so the sum of the squares is too large by n e^2; if x
/// is constant, that error is the whole sum. The sum of x - mean(x), taken in the same pass, is -n
/// e instead of 0 and thus gives e (the corrected two-pass algorithm: T. Chan, G. Golub, R.
/// LeVeque, "Algorithms for computing the sample variance", 1983). All other uses of the mean get
/// it corrected by e as well, unless e is below the rounding errors of the distances. Throws Fault
/// beyond kMaxNodes.
[[nodiscard]] Program correct_centred_sums(const Program& program);

/// A value that correct_centred_sums put in place of another.
struct Correction {
  enum class Of { squares, mean };
  Of of = Of::squares;
  NodeId value = kNoNode;    ///< x
  NodeId sum = kNoNode;      ///< sum of x - mean(x), as computed
  NodeId squares = kNoNode;  ///< sum of the squares of x - mean(x), as computed
  NodeId mean = kNoNode;     ///< the mean, as computed
  NodeId count = kNoNode;    ///< the extent of the axes
};
/// The correction that node `id` is; nothing if it is none.
[[nodiscard]] std::optional<Correction> find_correction(const Program& program, NodeId id);

}  // namespace tilejit::expr
