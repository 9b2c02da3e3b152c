#pragma once

#include <optional>
#include <span>
#include <vector>

#include "cuda/resolve.hpp"
#include "tilejit/reference.hpp"

namespace tilejit::cuda {

/// Throws Error{invalid_spec}, or what validating the formula throws, for a reference that is not
/// one of the kernel's outputs. `access` is that of each tensor.
void check_reference(const Resolved& kernel, const std::vector<Access>& access);

/// tilejit::evaluate and tilejit::verify by the kernel's formula. Throw Error{unsupported} if the
/// reference is no formula.
void evaluate_reference(const Resolved& kernel, const HostArguments& args);
[[nodiscard]] Verification verify_reference(const Resolved& kernel, const HostArguments& inputs,
                                            std::span<const void* const> actual,
                                            const VerifyOptions& options);
/// The expected results that no formula gives.
[[nodiscard]] std::optional<ExpectedResults> expected_of(const Resolved& kernel);

}  // namespace tilejit::cuda
