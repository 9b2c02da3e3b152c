#pragma once

#include <string>

#include "cuda/plan.hpp"
#include "operation/source.hpp"

namespace tilejit::cuda {

/// plan.cuh: the constants, and Params.
[[nodiscard]] std::string write_header(const KernelPlan& plan);
/// What the compiler gets.
[[nodiscard]] operation::Source write_source(const KernelPlan& plan);
/// The compiler options of the plan.
[[nodiscard]] std::vector<std::string> compiler_options(const KernelPlan& plan);

}  // namespace tilejit::cuda
