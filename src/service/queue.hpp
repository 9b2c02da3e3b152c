#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "tilejit/compile_service.hpp"
#include "tilejit/compiler.hpp"

namespace tilejit::service {

/// The work of a job. Runs in a thread of the queue. An exception goes to all requests of the job.
using Work = std::function<Artifact(Priority)>;

/// Jobs by key. The queue's own threads, started when needed, do foreground jobs first, and jobs of
/// equal priority in order of arrival. Thread-safe.
class Queue {
 public:
  /// `threads`: jobs that run at the same time, at least 1. `capacity`: jobs that may wait, at
  /// least 1.
  Queue(int threads, std::size_t capacity);
  /// Calls close(), then waits for running jobs.
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// A request for `key`. It shares the job of that key if there is one; otherwise `work` makes the
  /// artifact. Throws Error{queue_full}, Error{deadline_exceeded} or Error{cancelled} if there is
  /// no room (WhenFull), and Error{cancelled} after close().
  [[nodiscard]] PendingArtifact submit(const std::string& key, CompileRequest wish, Work work);
  /// Refuses new requests and cancels those whose jobs have not begun.
  void close();
  /// The part of the statistics that the queue knows: requests, jobs, `waited`.
  [[nodiscard]] ServiceStats stats() const;

 private:
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace tilejit::service
