#pragma once

#include <cstdint>
#include <vector>

#include "formula/attention.hpp"
#include "reference/problem.hpp"

namespace tilejit::reference {

/// By how much each node of the step that makes weights may deviate further in a kernel that takes
/// the attention as one, by node of the step's program:
///
/// - exponentials are of the maximum of the keys so far, and are rescaled when it grows;
/// - scores are multiplied by log2(e), and by reciprocals where they are divided;
/// - the maximum is subtracted also if the formula does not, so that sums do not overflow;
/// - tanh is the hardware's.
///
/// `keys`: how many.
[[nodiscard]] std::vector<OwnError> attention_errors(const formula::Step& weights,
                                                     const formula::Attention& attention,
                                                     std::int64_t keys);

/// The same of the step Attention::rows, and its program.
[[nodiscard]] std::vector<OwnError> errors_of_rows(const formula::Step& rows, std::int64_t keys);

/// The same of the weights in memory: such a kernel rounds the exponential of a score to their
/// type, and divides by the sum after the second product.
[[nodiscard]] OwnError error_of_kept_weights(DType type) noexcept;

}  // namespace tilejit::reference
