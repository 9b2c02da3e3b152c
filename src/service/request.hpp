#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>

#include "tilejit/compile_service.hpp"

namespace tilejit::service {

/// How a request ended: with an artifact if it is done, otherwise with an error.
struct Outcome {
  CompileState state = CompileState::done;
  std::shared_ptr<const Artifact> artifact = {};
  std::exception_ptr error = {};
};

/// Why a request left its job before the job ended.
enum class Leave : std::uint8_t { withdrawn, expired };

/// One call of compile_async; a PendingArtifact refers to it. Thread-safe. Calls its progress
/// callback without holding a lock.
struct Request : std::enable_shared_from_this<Request> {
  using Clock = std::chrono::steady_clock;

  explicit Request(CompileRequest asked) : wish(std::move(asked)) {}

  /// From now on `stop` cancels the request; it does so at once if it is already stopped.
  void heed_stop();
  /// Notes that the shared job is already running. Called before any other thread knows the
  /// request.
  void starts_running() noexcept { running_ = true; }
  /// Notes that the job has begun and reports it, unless the request has ended.
  void begin();
  /// Returns false and does nothing if the request has already ended.
  bool settle(Outcome outcome);
  void cancel();
  /// Ends the request if its deadline has passed.
  void expire(Clock::time_point now);
  /// Waits until the request has ended or `until` has passed; without `until`, for ever. Returns
  /// whether the request has ended.
  bool wait(std::optional<Clock::time_point> until);
  [[nodiscard]] CompileState state();
  /// The artifact of a request that has ended. Throws the request's error.
  [[nodiscard]] const Artifact& artifact() const;

  const CompileRequest wish;
  /// Takes the request off its job. Set before any other thread knows the request; called at most
  /// once.
  std::function<void(Request&, Leave)> leave = {};

 private:
  void tell(CompileState state) const noexcept;
  [[nodiscard]] bool ended() const noexcept { return outcome_.has_value(); }

  std::mutex mutex_;  // guards what follows; outcome_ is constant once it is set
  std::condition_variable settled_;
  bool running_ = false;
  std::optional<Outcome> outcome_;
  std::optional<std::stop_callback<std::function<void()>>> stop_;
};

}  // namespace tilejit::service
