#pragma once

#include "support/random_case.hpp"

namespace tilejit::test {

/// A random attention: types, batches, heads that share keys, layouts with gaps and in other
/// orders, lengths that may be symbols, columns of up to 128, and a random score: scale, soft cap,
/// biases that repeat along any axes, masks by positions, lengths and documents, in one of the
/// spellings of softmax, with a formula on the output. Every row sees a key.
[[nodiscard]] RandomCase random_attention(Random& random);

}  // namespace tilejit::test
