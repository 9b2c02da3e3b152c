#pragma once

#include <string>
#include <string_view>

#include "cuda/plan.hpp"
#include "operation/source.hpp"

namespace tilejit::cuda {

/// plan.cuh: the constants, and Params.
[[nodiscard]] std::string write_header(const KernelPlan& plan);
/// What the compiler gets.
[[nodiscard]] operation::Source write_source(const KernelPlan& plan);
/// The compiler options of the plan.
[[nodiscard]] std::vector<std::string> compiler_options(const KernelPlan& plan);

/// SHA-256 (hex) of what turns a plan's JSON into source. Computed by the build.
[[nodiscard]] std::string_view generator_digest() noexcept;

}  // namespace tilejit::cuda
