#include "service/request.hpp"

#include "tilejit/compiler.hpp"
#include "tilejit/error.hpp"

namespace tilejit::service {
namespace {

Outcome failure(CompileState state, ErrorCode code, const char* what) {
  return {.state = state, .error = std::make_exception_ptr(Error(code, what))};
}

}  // namespace

void Request::heed_stop() {
  if (!wish.stop.stop_possible()) return;
  stop_.emplace(wish.stop, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->cancel();
  });
}

void Request::begin() {
  {
    const std::lock_guard lock(mutex_);
    if (running_ || ended()) return;
    running_ = true;
  }
  tell(CompileState::running);
}

bool Request::settle(Outcome outcome) {
  const CompileState state = outcome.state;
  {
    const std::lock_guard lock(mutex_);
    if (ended()) return false;
    outcome_ = std::move(outcome);
  }
  settled_.notify_all();
  tell(state);
  return true;
}

void Request::cancel() {
  if (!settle(failure(CompileState::cancelled, ErrorCode::cancelled,
                      "the kernel was no longer wanted: its request was cancelled"))) {
    return;
  }
  leave(*this, Leave::withdrawn);
}

void Request::expire(Clock::time_point now) {
  if (!wish.deadline || now < *wish.deadline) return;
  if (!settle(failure(CompileState::failed, ErrorCode::deadline_exceeded,
                      "the kernel was not compiled before its deadline; allow more time, or warm "
                      "the cache before"))) {
    return;
  }
  leave(*this, Leave::expired);
}

bool Request::wait(std::optional<Clock::time_point> until) {
  const auto& deadline = wish.deadline;
  const bool by_deadline = deadline && (!until || *deadline <= *until);
  const auto end = by_deadline ? deadline : until;
  {
    std::unique_lock lock(mutex_);
    const auto has_ended = [this] { return ended(); };
    if (!end) {
      settled_.wait(lock, has_ended);
      return true;
    }
    if (settled_.wait_until(lock, *end, has_ended)) return true;
  }
  if (by_deadline) expire(Clock::now());
  const std::lock_guard lock(mutex_);
  return ended();
}

CompileState Request::state() {
  if (wish.deadline) expire(Clock::now());
  const std::lock_guard lock(mutex_);
  if (ended()) return outcome_->state;
  return running_ ? CompileState::running : CompileState::queued;
}

const Artifact& Request::artifact() const {
  if (outcome_->error) std::rethrow_exception(outcome_->error);
  return *outcome_->artifact;
}

void Request::tell(CompileState state) const noexcept {
  if (!wish.progress) return;
  try {
    wish.progress(state);
  } catch (...) {  // a failing observer must not fail the kernel
  }
}

}  // namespace tilejit::service
