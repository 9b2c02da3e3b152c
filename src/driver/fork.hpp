#pragma once

namespace tilejit::driver {

/// From now on a fork is noticed in the child. Called before the driver is first used.
void watch_forks() noexcept;

/// True in a process that was forked after watch_forks: the driver does not work there, and its
/// handles are the parent's. Costs one load.
[[nodiscard]] bool forked() noexcept;

/// Throws Error{driver_call} that says what to do, where forked(); `call` is what would be called.
void refuse_after_fork(const char* call);

}  // namespace tilejit::driver
