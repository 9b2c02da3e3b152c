#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace tilejit::cache {

/// Starts a process that runs `body` and exits with 0, or with 1 if an expectation failed in it.
inline pid_t start_process(const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  body();
  ::_exit(::testing::Test::HasFailure() ? 1 : 0);
}

/// Waits for the process and expects that everything went well in it.
inline void expect_success(pid_t child) {
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
}

/// Runs `body` in a separate process, whose limits and rights it may change.
inline void in_child(const std::function<void()>& body) {
  expect_success(start_process(body));
}

inline void kill_process(pid_t child) {
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
}

/// Root may write anywhere: becomes an unprivileged user.
inline void drop_root() {
  if (::geteuid() == 0) {
    ASSERT_EQ(::setresuid(65534, 65534, 65534), 0);
  }
}

}  // namespace tilejit::cache
