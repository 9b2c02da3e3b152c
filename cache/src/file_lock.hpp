#pragma once

namespace tilejit::cache {

/// Locks or unlocks (F_WRLCK, F_UNLCK) the byte at offset `at` through an open file description,
/// without waiting. Returns 0 or an error number; EAGAIN: another description holds the lock.
[[nodiscard]] int set_lock(int fd, short type, long long at) noexcept;

}  // namespace tilejit::cache
