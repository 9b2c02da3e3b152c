#pragma once

#include <optional>
#include <vector>

#include "kernels/problem.hpp"
#include "tilejit/runtime.hpp"

namespace tilejit::cli {

/// Compares the results of `download` with what the operation names: the CPU reference, arrays in
/// files, or another operation, which runs on the device. Nothing if it names none of them. Throws
/// UsageError for files that do not fit the tensors.
[[nodiscard]] std::optional<Verification> verify_results(Runtime& runtime, const Problem& problem,
                                                         const std::vector<HostTensor>& results);

}  // namespace tilejit::cli
