#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "compile/channel.hpp"
#include "compile/message.hpp"

namespace tilejit::compile {

/// What went wrong with a worker; what() is a part of a sentence, "was ended by signal 11".
class WorkerFailure : public std::runtime_error {
 public:
  enum class Kind : std::uint8_t {
    unusable,       ///< it cannot be started, or is not for this library
    crashed,        ///< of itself
    killed,         ///< from outside
    timed_out,      ///< killed by us
    out_of_memory,  ///< killed by us
    rubbish,        ///< its answer cannot be understood; killed by us
    stopped,        ///< we are told to stop; killed by us
  };
  WorkerFailure(Kind kind, const std::string& what) : std::runtime_error(what), kind_(kind) {}
  [[nodiscard]] Kind kind() const noexcept { return kind_; }

 private:
  Kind kind_;
};

/// What one kernel may take.
struct WorkerLimits {
  std::chrono::milliseconds time{60000};
  std::uint64_t memory_bytes = 0;          ///< resident; 0: any
  std::chrono::milliseconds start{30000};  ///< to get ready, not of a kernel
};

/// A worker that is ready; killed and reaped at the end of its life. Not thread-safe.
class WorkerProcess {
 public:
  /// Starts `program` and waits until it is ready, by `limits`. Throws WorkerFailure. `stopped`
  /// outlives it.
  WorkerProcess(const std::filesystem::path& program, const Hello& hello,
                const WorkerLimits& limits, const std::atomic<bool>& stopped);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// Throws WorkerFailure, after which it is of no use any more.
  [[nodiscard]] Reply ask(const Request& request);
  /// Ends it, without waiting for its end as the destructor does.
  void kill() noexcept;
  /// False once it has ended while nothing was asked of it.
  [[nodiscard]] bool alive();
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

 private:
  void spawn(const std::filesystem::path& program, int socket);
  void greet(const Hello& hello);
  /// One message there and one back.
  std::string exchange(std::string_view body, std::chrono::milliseconds time);
  [[noreturn]] void fail(Channel::Status status);
  [[noreturn]] void fail_with(WorkerFailure::Kind kind, const std::string& what);
  bool within_limits();
  std::string ending();
  void end() noexcept;

  WorkerLimits limits_;
  const std::atomic<bool>& stopped_;
  Channel channel_;
  pid_t pid_ = -1;  // -1: reaped
  int status_ = 0;  // of waitpid, once reaped
  bool ended_by_itself_ = false;
  bool out_of_memory_ = false;
  std::uint64_t orders_ = 0;
};

}  // namespace tilejit::compile
