#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "tilejit/compile_service.hpp"
#include "tilejit/compiler.hpp"

namespace tilejit::service {

/// What a job does. Runs in a thread of the queue; its exception is that of all requests.
using Work = std::function<Artifact(Priority)>;

/// Jobs by key, done by threads of its own that start when they are needed: those of the foreground
/// first, each kind in the order of its coming. Thread-safe.
class Queue {
 public:
  /// `threads`: jobs at a time, at least 1. `capacity`: jobs that may wait, at least 1.
  Queue(int threads, std::size_t capacity);
  /// As close; then waits for the jobs that run.
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// A request for `key`, to be made by `work` unless a job of that key is there to be shared.
  /// Throws Error{queue_full}, Error{deadline_exceeded}, Error{cancelled}, where there is no room
  /// (WhenFull), and Error{cancelled} once it is closed.
  [[nodiscard]] PendingArtifact submit(const std::string& key, CompileRequest wish, Work work);
  /// Takes no more requests, and cancels those whose jobs have not begun.
  void close();
  /// What it knows of: requests, jobs, `waited`.
  [[nodiscard]] ServiceStats stats() const;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace tilejit::service
