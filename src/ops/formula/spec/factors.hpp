#pragma once

#include <map>

#include "formula/spaces.hpp"

namespace tilejit::formula {

/// A factor of an operand that is the same along K and is reduced from whole rows, as
/// `rsqrt(mean(x * x) + eps)` in `(x * rsqrt(mean(x * x) + eps)) @ w`.
struct Factor {
  expr::NodeId value = expr::kNoNode;
  Extents space;  ///< of the operand
  Extents shape;  ///< of the factor: the space with extent 1 along K
};

/// Moves factors of operands that are the same along K behind the product: `(x * f) @ w` becomes
/// `(x @ w) * f` if x is a tensor of the type in which it is multiplied. Each element of x is then
/// exact, and no step computes the operand. An operand's own cast, as in `bf16(x * f) @ w`, only
/// says that type. Renumbers the nodes of `tree`.
///
/// Factors that are reduced become leaves: loads whose values are those of the result. Others stay
/// as they are.
[[nodiscard]] std::map<expr::NodeId, Factor> move_factors(const Fused& op, expr::Tree& tree);

}  // namespace tilejit::formula
