#pragma once

#include <optional>

#include "spec/object_reader.hpp"
#include "tilejit/cuda_kernel.hpp"

namespace tilejit::cuda {

/// The member "reference" of a descriptor `object`, whose JSON is `json`. Faults go to `problems`.
[[nodiscard]] std::optional<CudaReference> read_reference(const spec::Json& json,
                                                          spec::ObjectReader& object,
                                                          const SpecOptions& options,
                                                          spec::Problems& problems);
/// JSON that read_reference reads back.
[[nodiscard]] spec::Json reference_json(const CudaReference& reference);

}  // namespace tilejit::cuda
