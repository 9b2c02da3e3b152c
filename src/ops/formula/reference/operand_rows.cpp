#include "reference/operand_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

#include "arithmetic/convert.hpp"
#include "arithmetic/format.hpp"
#include "tilejit/reference.hpp"

namespace tilejit::reference {
namespace {

/// Whether a value lies in the middle between two of tf32.
bool is_tie(double value) noexcept {
  constexpr std::uint32_t kRounded = (1u << 13) - 1, kHalf = 1u << 12;
  const auto single = static_cast<float>(value);
  return single == value && (std::bit_cast<std::uint32_t>(single) & kRounded) == kHalf;
}

}  // namespace

Approx operand_element(const TensorView& tensor, std::int64_t offset) {
  const auto at = static_cast<std::size_t>(offset);
  Approx element;
  if (tensor.kept != nullptr) {
    const KeptValues& kept = *tensor.kept;
    element.value = is_floating(tensor.dtype) ? kept.reals[at]
                                              : integer_to_real(kept.integers[at], tensor.dtype);
    if (!kept.bounds.empty()) element.bound = kept.bounds[at];
  } else {
    const auto* const base = static_cast<const std::byte*>(tensor.data);
    element.value = decode(tensor.dtype, base + offset * size_bytes(tensor.dtype));
  }
  if (tensor.dtype != tf32) return element;
  const double rounded = round_to(tf32, element.value);
  if (element.bound != 0) element.bound += 2 * 0x1p-11 * (std::fabs(rounded) + element.bound);
  // Tensor maps round ties to even.
  if (is_tie(element.value)) element.bound += 2 * std::fabs(rounded - element.value);
  element.value = rounded;
  return element;
}

void Grain::add(double value) noexcept {
  if (value == 0 || !std::isfinite(value)) return;
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);
  const auto digits = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
  const double bit = std::ldexp(1.0, exponent - 53 + std::countr_zero(digits));
  value_ = value_ == 0 ? bit : std::min(value_, bit);
}

OperandRows::OperandRows(const Problem& problem, const Factor& factor)
    : problem_(problem),
      factor_(factor),
      tensor_(problem.tensors[static_cast<std::size_t>(factor.tensor)]),
      inner_(static_cast<std::size_t>(problem.product->k)) {
  for (std::size_t k = 0; k < inner_.size(); ++k)
    inner_[k] = offset_in_mode(factor.inner, static_cast<std::int64_t>(k));
}

bool OperandRows::is_bounded() const {
  const bool kept = tensor_.kept != nullptr &&
                    std::ranges::any_of(tensor_.kept->bounds, [](double b) { return b != 0; });
  return kept || (tensor_.dtype == tf32 && has_ties());
}

bool OperandRows::has_ties() const {
  const std::span shape(problem_.shape);
  const std::int64_t batches = count_elements(shape.first(shape.size() - 2));
  std::int64_t rows = 1;
  for (const auto& leaf : factor_.outer) rows *= leaf.extent;
  bool found = false;
  for (std::int64_t batch = 0; batch < batches && !found; ++batch) {
    for (std::int64_t row = 0; row < rows && !found; ++row) {
      visit(batch, row, [&](std::int64_t, const Approx& x) { found = found || x.bound != 0; });
    }
  }
  return found;
}

std::int64_t OperandRows::offset_of(std::int64_t batch) const {
  const std::span batch_shape = std::span(problem_.shape).first(problem_.shape.size() - 2);
  const std::vector<std::int64_t> at = coordinate(batch_shape, batch);
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < at.size(); ++i) offset += offset_in_mode(factor_.batch[i], at[i]);
  return offset;
}

}  // namespace tilejit::reference
