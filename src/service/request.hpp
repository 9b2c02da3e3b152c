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

/// How a request ended: an artifact if it is done, else an error.
struct Outcome {
  CompileState state = CompileState::done;
  std::shared_ptr<const Artifact> artifact = {};
  std::exception_ptr error = {};
};

/// Why a request left its job before that was through.
enum class Leave : std::uint8_t { withdrawn, expired };

/// One call of compile_async: what a PendingArtifact stands for. Thread-safe. Calls its progress
/// callback with no lock held.
struct Request : std::enable_shared_from_this<Request> {
  using Clock = std::chrono::steady_clock;

  explicit Request(CompileRequest asked) : wish(std::move(asked)) {}

  /// Has `stop` cancel it from now on, at once if that is stopped already.
  void heed_stop();
  /// It shares a job that runs already; called before anybody else knows the request.
  void starts_running() noexcept { running_ = true; }
  /// It runs; tells so unless it has ended.
  void begin();
  /// False, and nothing happens, if it has ended already.
  bool settle(Outcome outcome);
  void cancel();
  /// Ends it if its deadline is over.
  void expire(Clock::time_point now);
  /// Waits until it has ended or `until` is over; no `until`: for ever. Whether it has ended.
  bool wait(std::optional<Clock::time_point> until);
  [[nodiscard]] CompileState state();
  /// Of a request that has ended. Throws its error.
  [[nodiscard]] const Artifact& artifact() const;

  const CompileRequest wish;
  /// Takes it off its job; set before anybody else knows the request, and called once at most.
  std::function<void(Request&, Leave)> leave = {};

 private:
  void tell(CompileState state) const noexcept;
  [[nodiscard]] bool ended() const noexcept { return outcome_.has_value(); }

  std::mutex mutex_;  // guards what follows; outcome_ is constant once it is there
  std::condition_variable settled_;
  bool running_ = false;
  std::optional<Outcome> outcome_;
  std::optional<std::stop_callback<std::function<void()>>> stop_;
};

}  // namespace tilejit::service
