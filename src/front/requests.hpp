#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "tilejit/compiler.hpp"
#include "tilejit/kernel.hpp"
#include "tilejit/metrics.hpp"
#include "usage/index.hpp"
#include "usage/recorder.hpp"

namespace tilejit::front {

/// The bookkeeping of every request of a Compiler: which descriptors are known and recorded, what
/// is forbidden, and the counters. Thread-safe.
class Requests {
 public:
  explicit Requests(const Options& options);
  /// Writes the use counts to the record.
  ~Requests();

  void seal() noexcept { sealed_ = true; }
  [[nodiscard]] bool sealed() const noexcept { return sealed_; }
  /// The reason why this thread may not compile now; null if it may.
  [[nodiscard]] const char* forbidden() const noexcept;

  /// Throws MissError if the Compiler is sealed and has not served that descriptor. Only looks at
  /// memory.
  void admit(const Operation& op, const Target& target);
  /// Adds a descriptor to the index and the record. Returns its number in the index; nothing if the
  /// index is full.
  std::optional<std::size_t> note(const Operation& op, const Target& target, bool served);
  /// The number of a descriptor that was served before. Counts another request answered from
  /// memory.
  std::optional<std::size_t> use(const Operation& op, const Target& target);
  /// Counts a request that was answered.
  void count(const Artifact& artifact);
  /// Counts and records a request that was not answered. Returns the error to throw, with the
  /// nearest kernel.
  [[nodiscard]] MissError missed(const Operation& op, const Target& target, const std::string& why);
  /// The same for a request made earlier, when `nearest` was the nearest kernel.
  [[nodiscard]] MissError missed(const Operation& op, const Target& target, const std::string& why,
                                 std::optional<NearestKernel> nearest);
  void failed() noexcept { ++failed_; }
  void fell_back() noexcept { ++fallbacks_; }
  void compiled_in_capture() noexcept { ++in_capture_; }

  [[nodiscard]] const usage::Index& index() const noexcept { return index_; }
  [[nodiscard]] Metrics metrics() const;

 private:
  void count_steps(const Artifact& artifact);
  void tell_of_compile(const Artifact& artifact);

  const MissPolicy policy_;
  const double slow_ms_;  // 0: no compile counts as slow
  const std::function<void(const SlowCompile&)> on_slow_;
  std::atomic<bool> sealed_ = false;
  std::atomic<std::uint64_t> memory_hits_ = 0, failed_ = 0, missed_ = 0, fallbacks_ = 0,
                             in_capture_ = 0, slow_ = 0;
  usage::Index index_;
  std::unique_ptr<usage::Recorder> recorder_;  // null if nothing is recorded

  mutable std::mutex mutex_;                          // guards what follows
  Metrics metrics_;                                   // requests that memory did not answer
  std::unordered_map<std::size_t, std::string> ids_;  // ids in the record, by number in the index
};

/// Forbids this thread to compile during the object's life.
class ForbidScope {
 public:
  /// `why` must outlive the object; null forbids nothing.
  explicit ForbidScope(const char* why) noexcept;
  ~ForbidScope();
  ForbidScope(const ForbidScope&) = delete;
  ForbidScope& operator=(const ForbidScope&) = delete;

 private:
  const char* outer_;
};

[[nodiscard]] inline const Artifact& artifact_of(const Artifact& artifact) {
  return artifact;
}
[[nodiscard]] inline const Artifact& artifact_of(const Kernel& kernel) {
  return kernel.artifact();
}

/// Runs `request`, which returns an artifact or a kernel; counts, indexes and records it. Throws
/// what `request` throws, a MissError with the nearest kernel added.
template <typename Request>
auto watch(Requests& requests, const Operation& op, const Target& target, const Request& request) {
  requests.admit(op, target);
  try {
    auto answer = request();
    requests.count(artifact_of(answer));
    (void)requests.note(op, target, true);
    return answer;
  } catch (const MissError& miss) {
    throw requests.missed(op, target, miss.why());
  } catch (...) {
    requests.failed();
    throw;
  }
}

}  // namespace tilejit::front
