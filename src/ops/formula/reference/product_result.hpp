#pragma once

#include <cstdint>

#include "reference/bounds.hpp"
#include "reference/problem.hpp"
#include "reference/results.hpp"

namespace tilejit::reference {

/// What is known of an element of a product.
struct ProductSum {
  double value = 0;
  double magnitude = 0;  ///< sum of the magnitudes of the products
  double largest = 0;    ///< the same, of the largest that the device may have
  double grain = 0;      ///< divides every product
  bool certain = false;  ///< the device has the same value, which is not finite
};

/// The result of the problem's product, element by element, with bounds that cover sums in any
/// order. Threads may write different elements at once.
class ProductResult {
 public:
  /// `exact`: the operands have no error. Elements are 0, and those of a sampled product are
  /// unknown, until they are written.
  ProductResult(const Problem& problem, WithBounds with_bounds, bool exact);

  [[nodiscard]] bool is_empty() const noexcept { return count_ == 0; }
  /// `index`: row-major in the space of the product.
  void write(std::int64_t index, const ProductSum& sum) noexcept;
  [[nodiscard]] Result take() && { return std::move(result_); }

 private:
  [[nodiscard]] double bound(const Arithmetic& m, const ProductSum& sum) const noexcept;

  DType type_;
  std::int64_t k_;
  WithBounds with_bounds_;
  bool exact_;
  std::int64_t count_ = 1;
  Result result_;
};

}  // namespace tilejit::reference
