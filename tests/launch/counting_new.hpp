#pragma once

namespace tilejit {

/// Calls of operator new by this thread.
int allocations() noexcept;

}  // namespace tilejit
