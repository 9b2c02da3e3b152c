#include "reference/product_result.hpp"

#include <cmath>

#include "arithmetic/convert.hpp"
#include "arithmetic/format.hpp"

namespace tilejit::reference {

ProductResult::ProductResult(const Problem& problem, WithBounds with_bounds, bool exact)
    : type_(problem.program.nodes[static_cast<std::size_t>(problem.product->node)].type),
      k_(problem.product->k),
      with_bounds_(with_bounds),
      exact_(exact) {
  const std::size_t rank = problem.shape.size();
  result_.modes.resize(rank);
  for (std::size_t axis = rank; axis-- > 0; count_ *= problem.shape[axis]) {
    result_.modes[axis] = {{problem.shape[axis], count_}};
  }
  const auto elements = static_cast<std::size_t>(count_);
  (is_floating(type_) ? result_.reals.resize(elements) : result_.integers.resize(elements));
  if (with_bounds == WithBounds::yes)
    result_.bounds.assign(elements, problem.product->sampled ? kInfinity : 0);
}

void ProductResult::write(std::int64_t index, const ProductSum& sum) noexcept {
  const auto at = static_cast<std::size_t>(index);
  if (!is_floating(type_)) {
    result_.integers[at] =
        wrap(static_cast<std::uint64_t>(static_cast<std::int64_t>(sum.value)), type_);
    if (with_bounds_ == WithBounds::yes) result_.bounds[at] = sum.largest - sum.magnitude;
    return;
  }
  const Arithmetic& m = arithmetic(type_);
  result_.reals[at] = in_range(m, sum.value);
  if (with_bounds_ == WithBounds::yes) result_.bounds[at] = bound(m, sum);
}

// Every partial sum loses at most the last bit of the sum of magnitudes, and so do products where
// they are rounded; the double sums here lose theirs.
double ProductResult::bound(const Arithmetic& m, const ProductSum& sum) const noexcept {
  if (sum.certain) return 0;
  if (std::isnan(sum.value)) return exact_ ? 0 : kInfinity;
  if (!std::isfinite(sum.value) || !std::isfinite(sum.largest)) return kInfinity;
  const double carried = sum.largest - sum.magnitude;
  const bool representable = sum.largest * m.unit <= sum.grain && sum.largest < m.overflow;
  if (exact_ && representable) return 0;
  const auto roundings = static_cast<double>(k_ + 2);
  const double unit = 2 * m.unit + 2 * 0x1p-53;
  const double error = kSafety * (carried + roundings * (unit * sum.largest + m.tiny));
  return sum.largest + error >= m.overflow ? kInfinity : error;
}

}  // namespace tilejit::reference
