#include "janitor.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <system_error>

#include "evict.hpp"
#include "file_lock.hpp"

namespace tilejit::cache {
namespace {

constexpr std::int64_t kSweepSeconds = 3600;
constexpr const char* kSweepFile = "sweep";

}  // namespace

Janitor::~Janitor() {
  if (!thread_.joinable()) return;
  if (process_ == ::getpid()) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

void Janitor::published(std::uint64_t bytes) {
  if (bounds_.bytes == 0 && bounds_.age.count() == 0) return;
  const std::uint64_t written = written_.fetch_add(bytes) + bytes;
  if (running_.load() || due(written) == Due::no || running_.exchange(true)) return;
  try {
    start();
    // No thread can be started: the next publication tries again.
  } catch (const std::system_error&) {
    running_ = false;
  }
}

// If the folder lacks the file, it is created, and the next pass is due in an hour.
Janitor::Due Janitor::due(std::uint64_t written) const {
  if (bounds_.bytes > 0 && written > bounds_.bytes / 10) return Due::yes;
  UniqueFd folder;
  struct stat info;
  if (tree_.make("lock", folder) != 0) return Due::no;
  if (::fstatat(folder.get(), kSweepFile, &info, AT_SYMLINK_NOFOLLOW) == 0) {
    const auto seconds = static_cast<std::int64_t>(std::time(nullptr) - info.st_mtim.tv_sec);
    return std::abs(seconds) >= kSweepSeconds ? Due::yes : Due::no;
  }
  const UniqueFd made =
      open_file(folder.get(), kSweepFile, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600);
  return Due::no;
}

void Janitor::start() {
  const std::lock_guard lock(mutex_);
  if (thread_.joinable() && process_ == ::getpid()) thread_.join();  // its pass has ended
  if (thread_.joinable()) thread_.detach();
  process_ = ::getpid();
  thread_ = std::thread([this] {
    try {
      sweep();
    } catch (const std::exception&) {  // out of memory: the next pass tries again
    }
    running_ = false;
  });
}

void Janitor::sweep() {
  UniqueFd folder;
  if (tree_.make("lock", folder) != 0) return;
  const UniqueFd file =
      open_file(folder.get(), kSweepFile, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (!file.valid()) return;
  written_ = 0;
  // Without locks two concurrent passes do no harm: each file is removed once.
  if (set_lock(file.get(), F_WRLCK, 0) == EAGAIN) return;
  (void)::futimens(file.get(), nullptr);
  PruneReport report;
  (void)evict(tree_, bounds_, bounds_.bytes / 10 * 9, report);
  ++sweeps_;
  evicted_ += report.removed;
  evicted_bytes_ += report.removed_bytes;
}

Janitor::Counts Janitor::counts() const noexcept {
  return {sweeps_.load(), evicted_.load(), evicted_bytes_.load()};
}

}  // namespace tilejit::cache
