#include "service/request.hpp"
#include "tilejit/error.hpp"

namespace tilejit {

const Artifact& PendingArtifact::get() const {
  if (!request_) throw Error(ErrorCode::cancelled, "no kernel was asked for");
  request_->wait(std::nullopt);
  return request_->artifact();
}

bool PendingArtifact::wait_for(std::chrono::nanoseconds time) const {
  return !request_ || request_->wait(service::Request::Clock::now() + time);
}

bool PendingArtifact::ready() const {
  const CompileState now = state();
  return now != CompileState::queued && now != CompileState::running;
}

CompileState PendingArtifact::state() const {
  return request_ ? request_->state() : CompileState::cancelled;
}

void PendingArtifact::cancel() const {
  if (request_) request_->cancel();
}

}  // namespace tilejit
