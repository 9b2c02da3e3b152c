#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>

#include "tilejit/cache/folder.hpp"
#include "tree.hpp"

namespace tilejit::cache {

/// Keeps a folder within its bounds. A pass runs once an hour, started by the first process that
/// publishes after that time, and earlier if this process has written much. It runs in its own
/// thread, in one process at a time. The mtime of `v1/lock/sweep` is the time of the last pass.
/// Thread-safe.
class Janitor {
 public:
  Janitor(const Tree& tree, const Bounds& bounds) : tree_(tree), bounds_(bounds) {}
  /// Waits for a running pass; otherwise short processes would never finish one.
  ~Janitor();
  Janitor(const Janitor&) = delete;
  Janitor& operator=(const Janitor&) = delete;

  /// Called after an entry of `bytes` bytes was published.
  void published(std::uint64_t bytes);

  struct Counts {
    std::uint64_t sweeps = 0, evicted = 0, evicted_bytes = 0;
  };
  [[nodiscard]] Counts counts() const noexcept;

 private:
  enum class Due : std::uint8_t { yes, no };
  [[nodiscard]] Due due(std::uint64_t written) const;
  void start();
  void sweep();

  const Tree& tree_;
  const Bounds bounds_;
  std::atomic<std::uint64_t> written_ = 0;  // bytes since the last pass
  std::atomic<bool> running_ = false;
  std::mutex mutex_;  // guards the next two
  std::thread thread_;
  int process_ = 0;  // that started thread_; a forked child has no thread to wait for
  std::atomic<std::uint64_t> sweeps_ = 0, evicted_ = 0, evicted_bytes_ = 0;
};

}  // namespace tilejit::cache
