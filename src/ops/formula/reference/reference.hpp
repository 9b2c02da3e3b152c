#pragma once

#include <span>

#include "formula/analysis.hpp"
#include "tilejit/reference.hpp"

namespace tilejit::reference {

/// As tilejit::evaluate and tilejit::verify; `analysis` is that of `op`.
void evaluate(const Fused& op, const formula::Analysis& analysis, const HostArguments& args);
[[nodiscard]] Verification verify(const Fused& op, const formula::Analysis& analysis,
                                  const HostArguments& inputs, std::span<const void* const> actual,
                                  const VerifyOptions& options);

}  // namespace tilejit::reference
