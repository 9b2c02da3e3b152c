#pragma once

namespace tilejit::driver {

/// Makes forked children notice the fork from now on. Must be called before the driver is used.
void watch_forks() noexcept;

/// True in a process that was forked after watch_forks. There the driver does not work, and its
/// handles belong to the parent. Costs one load.
[[nodiscard]] bool forked() noexcept;

/// Throws Error{driver_call}, which says what to do, if forked(). `call` is the call that was about
/// to be made.
void refuse_after_fork(const char* call);

}  // namespace tilejit::driver
