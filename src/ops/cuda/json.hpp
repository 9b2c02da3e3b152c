#pragma once

#include <string>

#include "spec/json_text.hpp"
#include "spec/problems.hpp"
#include "tilejit/cuda_kernel.hpp"

namespace tilejit::cuda {

/// Reads the members of one descriptor, and the files that it names. Faults go to `problems` with
/// JSON pointers below `where`. Throws as CudaKernel's conversion, and Error{unsupported} unless
/// `options` allow source.
[[nodiscard]] Operation read_kernel(const spec::Json& json, const std::string& where,
                                    const SpecOptions& options, spec::Problems& problems);
/// What tilejit::to_json returns, on one line.
[[nodiscard]] std::string to_json(const CudaKernel& kernel);

}  // namespace tilejit::cuda
