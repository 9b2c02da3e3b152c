#pragma once

#include <span>

#include "formula/analysis.hpp"
#include "tilejit/reference.hpp"

namespace tilejit::reference {

/// As tilejit::evaluate and tilejit::verify, for an operation whose analysis has steps. A step
/// reads what earlier ones have left as the reference knows it: in double, with bounds when
/// verifying. The arguments have been checked (check_arguments).
void evaluate_steps(const Fused& op, const formula::Analysis& analysis, const HostArguments& args);
[[nodiscard]] Verification verify_steps(const Fused& op, const formula::Analysis& analysis,
                                        const HostArguments& inputs,
                                        std::span<const void* const> actual,
                                        const VerifyOptions& options);

}  // namespace tilejit::reference
