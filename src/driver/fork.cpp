#include "driver/fork.hpp"

#include <pthread.h>

#include <atomic>
#include <mutex>
#include <string>

#include "tilejit/error.hpp"

namespace tilejit::driver {
namespace {

std::atomic<bool> in_child = false;

}  // namespace

void watch_forks() noexcept {
  static std::once_flag registered;
  std::call_once(registered, [] {
    // If there is no memory for the handler, a fork goes unnoticed; then the driver itself reports
    // it.
    (void)pthread_atfork(nullptr, nullptr, [] { in_child.store(true, std::memory_order_relaxed); });
  });
}

bool forked() noexcept {
  return in_child.load(std::memory_order_relaxed);
}

void refuse_after_fork(const char* call) {
  if (!forked()) [[likely]]
    return;
  throw Error(ErrorCode::driver_call,
              std::string(call) +
                  " was not called: this process was forked after its parent had initialised the "
                  "CUDA driver, which does not work in the child; fork before the first Runtime is "
                  "made, or start the child with posix_spawn or exec",
              call);
}

}  // namespace tilejit::driver
