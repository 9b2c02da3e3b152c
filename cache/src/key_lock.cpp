#include "key_lock.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <thread>

#include "file_lock.hpp"

namespace tilejit::cache {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// The first 60 bits of the key. Two keys that share them merely wait for each other.
long long byte_of(const std::string& key) noexcept {
  long long at = 0;
  std::from_chars(key.data(), key.data() + 15, at, 16);
  return at;
}

}  // namespace

KeyLock::KeyLock(const Tree& tree, const std::string& key, std::chrono::milliseconds patience)
    : at_(byte_of(key)) {
  UniqueFd folder;
  if (tree.make("lock", folder) != 0) return;
  file_ = open_file(folder.get(), "keys", O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (file_.valid()) outcome_ = wait(patience);
}

// Polls, since no other way to wait has a deadline. If a poll is slow, as over a network, it polls
// less often.
KeyLock::Outcome KeyLock::wait(std::chrono::milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  for (bool first = true;; first = false) {
    const auto asked = Clock::now();
    const int error = set_lock(file_.get(), F_WRLCK, at_);
    if (error == 0) return first ? Outcome::held : Outcome::held_after_waiting;
    if (error == EINTR) continue;
    if (error != EAGAIN) return Outcome::unavailable;
    const auto now = Clock::now();
    if (now >= deadline) return Outcome::timed_out;
    const auto pause = std::clamp<Clock::duration>(4 * (now - asked), 500us, 50ms);
    std::this_thread::sleep_for(std::min<Clock::duration>(pause, deadline - now));
  }
}

KeyLock::~KeyLock() {
  release();
}

// Unlocks explicitly: a child forked meanwhile shares the description, so closing ours would not
// unlock.
void KeyLock::release() noexcept {
  const bool held = outcome_ == Outcome::held || outcome_ == Outcome::held_after_waiting;
  if (held && file_.valid()) (void)set_lock(file_.get(), F_UNLCK, at_);
  file_ = UniqueFd();
}

}  // namespace tilejit::cache
