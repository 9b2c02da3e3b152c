#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "operation/plan.hpp"

namespace tilejit::front {

/// The kernels of a cubin, by the names of their sections.
[[nodiscard]] std::vector<std::string> entries_of(std::string_view cubin);

/// Throws Error{compile_failed} if the cubin lacks an entry point that the plan launches: the
/// caller's own source may have none of that name.
void require_entries(const operation::Plan& plan, const operation::Source& source,
                     std::string_view cubin);

}  // namespace tilejit::front
