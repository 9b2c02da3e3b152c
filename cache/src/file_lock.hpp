#pragma once

namespace tilejit::cache {

/// Locks or unlocks (F_WRLCK, F_UNLCK) the byte at `at` through an open file description; does not
/// wait. 0 or an error number; EAGAIN: another description has it.
[[nodiscard]] int set_lock(int fd, short type, long long at) noexcept;

}  // namespace tilejit::cache
