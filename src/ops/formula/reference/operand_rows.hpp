#pragma once

#include <cstdint>
#include <vector>

#include "reference/bounds.hpp"
#include "reference/problem.hpp"

namespace tilejit::reference {

/// An element of an operand of a product at an offset, rounded to the operand's type. Its bound
/// says that ties of tf32 may go either way.
[[nodiscard]] Approx operand_element(const TensorView& tensor, std::int64_t offset);

/// A power of two that divides all values that were added; 0 if all are 0 or not finite.
class Grain {
 public:
  void add(double value) noexcept;
  [[nodiscard]] double value() const noexcept { return value_; }

 private:
  double value_ = 0;
};

/// The matrices of an operand of a product, row by row: rows lie along M of the left operand and N
/// of the right one.
class OperandRows {
 public:
  OperandRows(const Problem& problem, const Factor& factor);

  /// Whether elements may have an error.
  [[nodiscard]] bool is_bounded() const;
  /// Calls visit(k, element) for the elements of a row of a batch, along K.
  template <class Visit>
  void visit(std::int64_t batch, std::int64_t row, const Visit& visit) const {
    const std::int64_t base = offset_of(batch) + offset_in_mode(factor_.outer, row);
    for (std::size_t k = 0; k < inner_.size(); ++k)
      visit(static_cast<std::int64_t>(k), operand_element(tensor_, base + inner_[k]));
  }

 private:
  [[nodiscard]] bool has_ties() const;
  [[nodiscard]] std::int64_t offset_of(std::int64_t batch) const;

  const Problem& problem_;
  const Factor& factor_;
  const TensorView& tensor_;
  std::vector<std::int64_t> inner_;  // offsets along K
};

}  // namespace tilejit::reference
