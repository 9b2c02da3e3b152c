#pragma once

#include <cstdint>
#include <vector>

#include "formula/attention.hpp"
#include "reference/problem.hpp"

namespace tilejit::reference {

/// By how much each node of the step that makes weights may deviate further in a kernel that takes
/// the attention as one, by node of the step's program:
///
/// - the exponential of a score is rounded to the type of the weights before it is divided by the
///   sum, with the maximum of the keys so far, and once more divided after the second product;
/// - scores are multiplied by log2(e), and by reciprocals where they are divided;
/// - the maximum is subtracted also if the formula does not, so that sums do not overflow;
/// - tanh is the short one of tile/score_functions.cuh.
///
/// `keys`: how many.
[[nodiscard]] std::vector<OwnError> attention_errors(const formula::Step& weights,
                                                     const formula::Attention& attention,
                                                     std::int64_t keys);

}  // namespace tilejit::reference
