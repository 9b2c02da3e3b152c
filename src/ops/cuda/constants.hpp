#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tilejit/cuda_kernel.hpp"

namespace tilejit::cuda {

/// "256", "true", "0.5", "f16", "(8,4):(4,1)".
[[nodiscard]] std::string to_text(const CudaConstant::Value& value);
/// The value that `text` has as a constant of the kind of `like`. Throws Error{invalid_spec}.
[[nodiscard]] CudaConstant::Value parse_value(std::string_view text,
                                              const CudaConstant::Value& like);
/// The constants of `kernel` with those values that `tuning` chooses. Throws Error{invalid_spec}.
[[nodiscard]] std::vector<CudaConstant> chosen_constants(const CudaKernel& kernel,
                                                         const Tuning& tuning);
/// The constants that launch expressions may name: integers.
[[nodiscard]] std::map<std::string, std::int64_t> integers_of(
    const std::vector<CudaConstant>& constants);

}  // namespace tilejit::cuda
