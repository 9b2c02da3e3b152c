#pragma once

#include <chrono>
#include <string>

#include "posix_file.hpp"
#include "tree.hpp"

namespace tilejit::cache {

/// The right to make the entry of one key, among all processes that use a folder: a lock on one
/// byte of the file `v1/lock/keys`, held through an open file description. When the holder ends,
/// for whatever reason, the kernel releases the lock, and nothing is left to clean up. Move-only.
class KeyLock {
 public:
  enum class Outcome : std::uint8_t {
    held,
    held_after_waiting,
    timed_out,    ///< another process still holds it
    unavailable,  ///< the folder cannot be written to, or its file system has no locks
  };

  /// Waits at most `patience`, by a steady clock. The caller may go on in any case: without the
  /// lock an entry is merely made twice.
  KeyLock(const Tree& tree, const std::string& key, std::chrono::milliseconds patience);
  ~KeyLock();
  KeyLock(KeyLock&&) noexcept = default;
  KeyLock& operator=(KeyLock&&) = delete;

  /// Releases the lock; the destructor does so too.
  void release() noexcept;

  [[nodiscard]] Outcome outcome() const noexcept { return outcome_; }

 private:
  Outcome wait(std::chrono::milliseconds patience);

  UniqueFd file_;
  long long at_ = 0;  // offset of the byte
  Outcome outcome_ = Outcome::unavailable;
};

}  // namespace tilejit::cache
