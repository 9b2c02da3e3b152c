#pragma once

#include <chrono>
#include <string>

#include "posix_file.hpp"
#include "tree.hpp"

namespace tilejit::cache {

/// The right to make the entry of one key, among all processes that use a folder: a byte of the
/// file `v1/lock/keys`, locked through an open file description. The kernel gives it back when the
/// holder ends, however it ends; nothing is left to be cleaned up. Move-only.
class KeyLock {
 public:
  enum class Outcome : std::uint8_t {
    held,
    held_after_waiting,
    timed_out,    ///< another process still has it
    unavailable,  ///< the folder cannot be written to, or its file system has no locks
  };

  /// Waits at most `patience`, by a clock that nobody sets. Whatever comes of it, the caller may go
  /// on: without the lock an entry is only made twice.
  KeyLock(const Tree& tree, const std::string& key, std::chrono::milliseconds patience);
  ~KeyLock();
  KeyLock(KeyLock&&) noexcept = default;
  KeyLock& operator=(KeyLock&&) = delete;

  /// Lets others go on; the end of its life does so too.
  void release() noexcept;

  [[nodiscard]] Outcome outcome() const noexcept { return outcome_; }

 private:
  Outcome wait(std::chrono::milliseconds patience);

  UniqueFd file_;
  long long at_ = 0;  // offset of the byte
  Outcome outcome_ = Outcome::unavailable;
};

}  // namespace tilejit::cache
