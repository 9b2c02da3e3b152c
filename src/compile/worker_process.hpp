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

/// A failure of a worker. what() is part of a sentence, "was ended by signal 11".
class WorkerFailure : public std::runtime_error {
 public:
  enum class Kind : std::uint8_t {
    unusable,       ///< cannot be started, or belongs to another library version
    crashed,        ///< ended by itself
    killed,         ///< ended from outside
    timed_out,      ///< killed by us
    out_of_memory,  ///< killed by us
    rubbish,        ///< sent an answer that cannot be understood; killed by us
    stopped,        ///< killed by us because we were told to stop
  };
  WorkerFailure(Kind kind, const std::string& what) : std::runtime_error(what), kind_(kind) {}
  [[nodiscard]] Kind kind() const noexcept { return kind_; }

 private:
  Kind kind_;
};

/// Limits for one kernel.
struct WorkerLimits {
  std::chrono::milliseconds time{60000};
  std::uint64_t memory_bytes = 0;          ///< resident memory; 0: no limit
  std::chrono::milliseconds start{30000};  ///< to get ready; not per kernel
};

/// A worker that is ready; killed and reaped by the destructor. Not thread-safe.
class WorkerProcess {
 public:
  /// Starts `program` and waits within `limits` until it is ready. Throws WorkerFailure. `stopped`
  /// outlives the object.
  WorkerProcess(const std::filesystem::path& program, const Hello& hello,
                const WorkerLimits& limits, const std::atomic<bool>& stopped);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// Throws WorkerFailure; after that the worker must not be used again.
  [[nodiscard]] Reply ask(const Request& request);
  /// Ends the worker without waiting; the destructor waits.
  void kill() noexcept;
  /// False if the worker has ended while it was idle.
  [[nodiscard]] bool alive();
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

 private:
  void spawn(const std::filesystem::path& program, int socket);
  void greet(const Hello& hello);
  /// Sends one message and receives one.
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
  int status_ = 0;  // from waitpid, once reaped
  bool ended_by_itself_ = false;
  bool out_of_memory_ = false;
  std::uint64_t orders_ = 0;
};

}  // namespace tilejit::compile
